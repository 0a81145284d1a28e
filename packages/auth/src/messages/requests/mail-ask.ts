import { findRedirectTarget } from '../../features/redirects/redirect-target.ts'
import { parseChallenge } from '../../features/sessions/pkce.ts'
import { checkAuthorized } from '../../features/users/addresses.ts'
import type { Call } from '../../http/call.ts'
import type { Services } from '../../services.ts'
import type { MailAsk } from './user-mail.ts'

/** Of every request that sends a message with a link. */
export interface MailBody {
  readonly email?: string
  readonly code_challenge?: string
  readonly code_challenge_method?: string
}

/** @throws {ApiError} before anything has happened. */
export function readMailAsk(call: Call<MailBody>, services: Services, email: string): MailAsk {
  const { body, audience, client, externalUrl } = call
  checkAuthorized(services, email)
  return {
    email,
    audience,
    client,
    challenge: parseChallenge(body.code_challenge, body.code_challenge_method),
    redirectTo: findRedirectTarget(call, services.redirects),
    externalUrl,
  }
}
