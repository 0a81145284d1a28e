import { column, createdAt, hasNoUser, type ImportTable, same, updatedAt } from './import-table.ts'

export const passkeys: ImportTable = {
  name: 'webauthn_credentials',
  label: 'passkeys',
  columns: [
    same('user_id', 'uuid'),
    same('credential_id', 'bytea'),
    same('public_key', 'bytea'),
    same('sign_count', 'bigint'),
    same('transports', 'jsonb'),
    column('aaguid', 'uuid', `coalesce(x.aaguid, '00000000-0000-0000-0000-000000000000')`),
    column('is_syncable', 'boolean', 'x.backup_eligible'),
    column('is_backed_up', 'boolean', 'x.backed_up'),
    same('friendly_name', 'text'),
    same('last_used_at', 'timestamptz'),
    createdAt,
    updatedAt,
  ],
  isChangedSince: (time) => `x.updated_at >= ${time}`,
  skipRules: [
    [hasNoUser, 'no user'],
    [
      `(select w.id from {ns}.webauthn_credentials w where w.credential_id = s.credential_id
        and w.id <> s.id limit 1) is not null`,
      'passkey taken',
    ],
  ],
}
