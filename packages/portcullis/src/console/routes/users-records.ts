export type { SignInFailure } from '../overview/sign-in-failures.ts'

/** What the auth server tells of users; only what the page shows is named here. */
export interface User {
  readonly id: string
  readonly role: string
  /** Empty: they have none. */
  readonly email: string
  readonly phone: string
  readonly new_email?: string
  readonly email_confirmed_at?: string
  readonly phone_confirmed_at?: string
  readonly confirmed_at?: string
  readonly invited_at?: string
  readonly last_sign_in_at?: string
  readonly banned_until?: string
  readonly deleted_at?: string
  readonly created_at: string
  readonly updated_at: string
  readonly is_anonymous: boolean
  readonly app_metadata: Metadata
  readonly user_metadata: Metadata
  readonly identities: readonly Identity[]
  readonly factors?: readonly Factor[]
}

export type Metadata = Readonly<Record<string, unknown>>

export interface Identity {
  readonly identity_id: string
  /** At the provider. */
  readonly id: string
  readonly provider: string
  readonly email?: string
  readonly created_at: string
  readonly last_sign_in_at?: string
}

export interface Factor {
  readonly id: string
  readonly friendly_name?: string
  readonly factor_type: string
  readonly status: 'verified' | 'unverified'
  readonly phone: string
  readonly created_at: string
  readonly last_challenged_at: string | null
}

export interface Passkey {
  readonly id: string
  readonly friendly_name: string
  readonly created_at: string
  readonly last_used_at?: string
}

export interface Session {
  readonly id: string
  /** `Firefox on Windows`. */
  readonly device: string
  readonly user_agent: string
  readonly ip: string
  readonly aal: string
  readonly created_at: string
  readonly last_used_at: string
  readonly not_after?: string
}

export interface GeneratedLink {
  readonly action_link: string
  readonly email_otp: string
  readonly verification_type: string
  readonly redirect_to: string
}
