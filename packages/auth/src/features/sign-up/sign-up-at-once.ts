import type { Services } from '../../services.ts'
import { toAuditEntry } from '../audit/audit.ts'
import type { Client, TokenResponse } from '../sessions/sessions.ts'
import { insertUser, type UserDraft, unconfirmed } from '../users/new-users.ts'
import type { NewUser } from '../users/statements/create-user.ts'

export interface SignUpAtOnce {
  readonly draft: UserDraft
  readonly provider: 'email' | 'phone' | 'anonymous'
  /** Undefined: signed in without a password. */
  readonly hash?: string
  readonly client: Client
}

/** Where nobody has to confirm anything: the user is made and signed in. @throws {ApiError} */
export async function signUpAtOnce(
  services: Services,
  { draft, provider, hash, client }: SignUpAtOnce,
): Promise<TokenResponse> {
  const now = new Date(services.now())
  const actor = { ...draft, is_sso_user: false }
  const user: NewUser = {
    ...draft,
    ...unconfirmed,
    ...(hash !== undefined && { encrypted_password: hash }),
    ...(provider === 'email' && { email_confirmed_at: now }),
    ...(provider === 'phone' && { phone_confirmed_at: now }),
    now,
    ip: client.ip,
    audit: toAuditEntry('user_signedup', actor, { provider }),
    token: null,
    flow: null,
    messages: [],
    cap_most: null,
    cap_refill_ms: null,
  }
  await insertUser(services, user)
  const method = hash === undefined ? 'anonymous' : 'password'
  return services.sessions.open({ user: actor, method, client })
}
