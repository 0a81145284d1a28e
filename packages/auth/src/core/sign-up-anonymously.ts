import { toAuditEntry } from './audit.ts'
import { insertUser } from './insert-user.ts'
import type { Metadata } from './metadata.ts'
import { draftAnonymousUser, unconfirmed } from './new-users.ts'
import type { Services } from './services.ts'
import type { Client, TokenResponse } from './sessions.ts'

export interface AnonymousSignUp {
  readonly audience: string
  readonly client: Client
  readonly data: Metadata
}

export async function signUpAnonymously(
  services: Services,
  { audience, client, data }: AnonymousSignUp,
): Promise<TokenResponse> {
  const { config, sessions } = services
  const now = new Date(services.now())
  const draft = draftAnonymousUser({ aud: audience, role: config.tokens.defaultGroup, data })
  const actor = { ...draft, is_sso_user: false }
  await insertUser(services, {
    ...draft,
    ...unconfirmed,
    now,
    ip: client.ip,
    audit: toAuditEntry('user_signedup', actor, { provider: 'anonymous' }),
    token: null,
    flow: null,
    messages: [],
    cap_most: null,
    cap_refill_ms: null,
  })
  return sessions.open({ user: actor, method: 'anonymous', client })
}
