import {
  column,
  createdAt,
  hasInvalidSecret,
  type ImportTable,
  same,
  toObject,
  updatedAt,
} from './import-table.ts'

/** This server stores addresses in lower case, and phone numbers without the plus sign. */
const toAddress = (name: string) => `nullif(lower(x.${name}), '')`
const toPhone = (name: string) => `nullif(replace(ltrim(x.${name}, '+'), ' ', ''), '')`

export const users: ImportTable = {
  name: 'users',
  label: 'users',
  columns: [
    column('aud', 'text', `coalesce(x.aud, '')`),
    column('role', 'text', `coalesce(x.role, '')`),
    column('email', 'text', toAddress('email')),
    {
      ...column('encrypted_password', 'text', `nullif(x.encrypted_password, '')`),
      to: 'coalesce(c.text_value, s.encrypted_password)',
    },
    same('email_confirmed_at', 'timestamptz'),
    same('invited_at', 'timestamptz'),
    same('confirmation_sent_at', 'timestamptz'),
    same('recovery_sent_at', 'timestamptz'),
    column('email_change', 'text', toAddress('email_change')),
    same('email_change_sent_at', 'timestamptz'),
    column('email_change_confirm_status', 'smallint', 'coalesce(x.email_change_confirm_status, 0)'),
    column('phone', 'text', toPhone('phone')),
    same('phone_confirmed_at', 'timestamptz'),
    column('phone_change', 'text', toPhone('phone_change')),
    same('phone_change_sent_at', 'timestamptz'),
    same('reauthentication_sent_at', 'timestamptz'),
    same('last_sign_in_at', 'timestamptz'),
    column('raw_app_meta_data', 'jsonb', toObject('raw_app_meta_data')),
    column('raw_user_meta_data', 'jsonb', toObject('raw_user_meta_data')),
    column('is_sso_user', 'boolean', 'coalesce(x.is_sso_user, false)'),
    column('is_anonymous', 'boolean', 'coalesce(x.is_anonymous, false)'),
    same('banned_until', 'timestamptz'),
    same('deleted_at', 'timestamptz'),
    createdAt,
    updatedAt,
  ],
  isChangedSince: (time) => `coalesce(x.updated_at, x.created_at) >= ${time}`,
  skipRules: [
    [hasInvalidSecret, 'invalid secret'],
    // Scalar subqueries use an index for each row, however large the table is.
    [
      `not s.is_sso_user and (select u.id from {ns}.users u
        where u.email = s.email and not u.is_sso_user and u.id <> s.id limit 1) is not null`,
      'email taken',
    ],
    [
      '(select u.id from {ns}.users u where u.phone = s.phone and u.id <> s.id limit 1) is not null',
      'phone taken',
    ],
    // In the source, several users may have addresses that differ only in case. The oldest user of
    // the batch is imported.
    [
      `not s.is_sso_user and s.email is not null and row_number() over (
        partition by s.email, s.is_sso_user order by s.created_at, s.id) > 1`,
      'email taken',
    ],
    [
      's.phone is not null and row_number() over (partition by s.phone order by s.created_at, s.id) > 1',
      'phone taken',
    ],
  ],
}
