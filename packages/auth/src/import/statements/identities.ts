import {
  column,
  createdAt,
  hasNoUser,
  type ImportTable,
  same,
  toObject,
  updatedAt,
} from './import-table.ts'

export const identities: ImportTable = {
  name: 'identities',
  label: 'identities',
  columns: [
    same('user_id', 'uuid'),
    same('provider', 'text'),
    same('provider_id', 'text'),
    column('identity_data', 'jsonb', toObject('identity_data')),
    same('last_sign_in_at', 'timestamptz'),
    createdAt,
    updatedAt,
  ],
  isChangedSince: (time) => `coalesce(x.updated_at, x.created_at) >= ${time}`,
  skipRules: [
    [hasNoUser, 'no user'],
    [
      `(select i.id from {ns}.identities i where i.provider = s.provider
        and i.provider_id = s.provider_id and i.id <> s.id limit 1) is not null`,
      'identity taken',
    ],
  ],
}
