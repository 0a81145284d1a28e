import { type ExportTable, hasNoUser, same, text } from './export-table.ts'

export const users: ExportTable = {
  name: 'users',
  label: 'users',
  isExported: 'true',
  columns: [
    same('aud', 'text'),
    same('role', 'text'),
    same('email', 'text'),
    { ...text('encrypted_password'), to: 'coalesce(c.text_value, s.encrypted_password)' },
    same('email_confirmed_at', 'timestamptz'),
    same('invited_at', 'timestamptz'),
    same('confirmation_sent_at', 'timestamptz'),
    same('recovery_sent_at', 'timestamptz'),
    text('email_change'),
    same('email_change_sent_at', 'timestamptz'),
    same('email_change_confirm_status', 'smallint'),
    same('phone', 'text'),
    same('phone_confirmed_at', 'timestamptz'),
    text('phone_change'),
    same('phone_change_sent_at', 'timestamptz'),
    same('reauthentication_sent_at', 'timestamptz'),
    same('last_sign_in_at', 'timestamptz'),
    same('raw_app_meta_data', 'jsonb'),
    same('raw_user_meta_data', 'jsonb'),
    same('is_sso_user', 'boolean'),
    same('is_anonymous', 'boolean'),
    same('banned_until', 'timestamptz'),
    same('deleted_at', 'timestamptz'),
    same('created_at', 'timestamptz'),
    same('updated_at', 'timestamptz'),
  ],
  defaults: {
    instance_id: `'00000000-0000-0000-0000-000000000000'`,
    confirmation_token: `''`,
    recovery_token: `''`,
    email_change_token_new: `''`,
    email_change_token_current: `''`,
    phone_change_token: `''`,
    reauthentication_token: `''`,
  },
  skipRules: [
    [
      `not s.is_sso_user and (select u.id from {supabase}.users u
        where u.email = s.email and not u.is_sso_user and u.id <> s.id limit 1) is not null`,
      'email taken',
    ],
    [
      '(select u.id from {supabase}.users u where u.phone = s.phone and u.id <> s.id limit 1) is not null',
      'phone taken',
    ],
  ],
}

export const identities: ExportTable = {
  name: 'identities',
  label: 'identities',
  isExported: 'true',
  columns: [
    same('user_id', 'uuid'),
    same('provider', 'text'),
    same('provider_id', 'text'),
    same('identity_data', 'jsonb'),
    same('last_sign_in_at', 'timestamptz'),
    same('created_at', 'timestamptz'),
    same('updated_at', 'timestamptz'),
  ],
  skipRules: [
    [hasNoUser, 'no user'],
    [
      `(select i.id from {supabase}.identities i where i.provider = s.provider
        and i.provider_id = s.provider_id and i.id <> s.id limit 1) is not null`,
      'identity taken',
    ],
  ],
}

export const factors: ExportTable = {
  name: 'mfa_factors',
  label: 'second factors',
  // Supabase Auth has no recovery codes.
  isExported: `x.factor_type in ('totp', 'phone', 'webauthn')`,
  columns: [
    same('user_id', 'uuid'),
    { ...same('factor_type', 'text'), to: 's.factor_type::{supabase}.factor_type' },
    { ...same('status', 'text'), to: 's.status::{supabase}.factor_status' },
    same('friendly_name', 'text'),
    { name: 'secret', type: 'bytea', from: 'x.secret', to: `coalesce(c.text_value, '')` },
    same('phone', 'text'),
    { ...same('web_authn_credential', 'jsonb'), to: 'c.json_value' },
    same('web_authn_aaguid', 'uuid'),
    same('last_challenged_at', 'timestamptz'),
    same('created_at', 'timestamptz'),
    same('updated_at', 'timestamptz'),
  ],
  skipRules: [[hasNoUser, 'no user']],
}

export const passkeys: ExportTable = {
  name: 'webauthn_credentials',
  label: 'passkeys',
  isExported: 'true',
  columns: [
    same('user_id', 'uuid'),
    same('credential_id', 'bytea'),
    same('public_key', 'bytea'),
    same('sign_count', 'bigint'),
    same('transports', 'jsonb'),
    same('aaguid', 'uuid'),
    { name: 'backup_eligible', type: 'boolean', from: 'x.is_syncable' },
    { name: 'backed_up', type: 'boolean', from: 'x.is_backed_up' },
    same('friendly_name', 'text'),
    same('last_used_at', 'timestamptz'),
    same('created_at', 'timestamptz'),
    same('updated_at', 'timestamptz'),
  ],
  skipRules: [[hasNoUser, 'no user']],
}
