import type { Services } from '../../services.ts'
import type { Client, TokenResponse } from '../sessions/sessions.ts'
import type { Metadata } from '../users/metadata.ts'
import { draftAnonymousUser } from '../users/new-users.ts'
import { signUpAtOnce } from './sign-up-at-once.ts'

export interface AnonymousSignUp {
  readonly audience: string
  readonly client: Client
  readonly data: Metadata
}

export function signUpAnonymously(
  services: Services,
  { audience, client, data }: AnonymousSignUp,
): Promise<TokenResponse> {
  const { defaultGroup: role } = services.config.tokens
  const draft = draftAnonymousUser({ aud: audience, role, data })
  return signUpAtOnce(services, { draft, provider: 'anonymous', client })
}
