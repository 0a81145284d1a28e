import type { Services } from '../../../services.ts'
import type { OAuthClientRow } from '../../oauth-clients/statements.ts'
import { type ClientGrant, hasScope } from '../../sessions/client-grants.ts'
import type { TokenResponse } from '../../sessions/sessions.ts'
import type { SessionRow } from '../../sessions/statements/sessions.ts'
import { createIdToken } from '../id-token.ts'
import { type TokenAnswer, toTokenType } from './grant.ts'

interface Issued {
  readonly client: OAuthClientRow
  readonly grant: ClientGrant
  readonly tokens: TokenResponse
  readonly session: SessionRow
  readonly nonce: string
}

/** The response with the tokens of a session, without the user record. */
export async function toTokenAnswer(
  services: Services,
  { client, grant, tokens, session, nonce }: Issued,
): Promise<TokenAnswer> {
  const accessToken = `${tokens['access_token']}`
  const isRefreshable = client.grant_types.includes('refresh_token')
  return {
    access_token: accessToken,
    token_type: toTokenType(grant.jkt),
    expires_in: Number(tokens['expires_in']),
    ...(isRefreshable && { refresh_token: `${tokens['refresh_token']}` }),
    ...(hasScope(grant, 'openid') && {
      id_token: await createIdToken(services, { session, grant, accessToken, nonce }),
    }),
    scope: grant.scope,
  }
}
