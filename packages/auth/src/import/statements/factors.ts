import {
  column,
  createdAt,
  hasInvalidSecret,
  hasNoUser,
  type ImportTable,
  recent,
  same,
  updatedAt,
} from './import-table.ts'

const table = 'mfa_factors'

export const factors: ImportTable = {
  name: table,
  label: 'second factors',
  columns: [
    same('user_id', 'uuid'),
    column('factor_type', 'text', 'x.factor_type::text'),
    column(
      'friendly_name',
      'text',
      `case when trim(x.friendly_name) <> '' then x.friendly_name else '' end`,
    ),
    column('status', 'text', 'x.status::text'),
    { ...column('secret', 'text', `nullif(x.secret, '')`), to: 'c.sealed' },
    recent(table, 'phone', 'text', `nullif(ltrim(x.phone, '+'), '')`),
    { ...recent(table, 'web_authn_credential', 'jsonb'), to: 'c.json_value' },
    recent(table, 'web_authn_aaguid', 'uuid'),
    recent(table, 'last_challenged_at', 'timestamptz'),
    createdAt,
    updatedAt,
  ],
  isChangedSince: (time) => `x.updated_at >= ${time}`,
  skipRules: [
    [hasNoUser, 'no user'],
    [`s.factor_type not in ('totp', 'phone', 'webauthn')`, 'unknown factor'],
    [hasInvalidSecret, 'invalid secret'],
    [
      `(select f.id from {ns}.mfa_factors f where f.user_id = s.user_id and f.id <> s.id
        and ((f.friendly_name = s.friendly_name and s.friendly_name <> '') or f.phone = s.phone)
        limit 1) is not null`,
      'factor taken',
    ],
  ],
}
