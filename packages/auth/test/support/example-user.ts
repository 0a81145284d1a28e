import type { FactorRow, UserRow } from '../../src/features/users/statements/user-row.ts'

export const createdAt = '2026-01-01T00:00:00.000Z'

/** A confirmed user as statements return it, for tests without a database. */
export const user: UserRow = {
  id: '7d1f6c2e-0000-4000-8000-000000000001',
  aud: 'authenticated',
  role: 'authenticated',
  email: 'ada@example.com',
  encrypted_password: null,
  email_confirmed_at: createdAt,
  invited_at: null,
  confirmation_sent_at: null,
  recovery_sent_at: null,
  email_change: null,
  email_change_sent_at: null,
  email_change_confirm_status: 0,
  phone: null,
  phone_confirmed_at: null,
  phone_change: null,
  phone_change_sent_at: null,
  reauthentication_sent_at: null,
  last_sign_in_at: createdAt,
  raw_app_meta_data: { provider: 'email' },
  raw_user_meta_data: { name: 'Ada' },
  is_sso_user: false,
  admin_data: null,
  is_anonymous: false,
  banned_until: null,
  deleted_at: null,
  created_at: createdAt,
  updated_at: createdAt,
  identities: [],
  factors: [],
}

/** A second factor that was verified. */
export const factor: FactorRow = {
  id: '7d1f6c2e-0000-4000-8000-000000000002',
  factor_type: 'totp',
  friendly_name: '',
  status: 'verified',
  phone: null,
  web_authn_aaguid: null,
  last_challenged_at: null,
  created_at: createdAt,
  updated_at: createdAt,
}
