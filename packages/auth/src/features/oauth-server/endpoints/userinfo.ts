import { json } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import type { Services } from '../../../services.ts'
import { requireOAuthServer } from '../../oauth-clients/enabled.ts'
import type { CallerRow } from '../../sessions/statements/sessions.ts'
import { toUserClaims } from '../user-claims.ts'

const common = {
  path: '/oauth/userinfo',
  summary: 'Returns the claims about the user that the scope of an access token includes',
  allowed: 'user',
  acceptsClients: true,
  oauth: 'api',
  success: { status: 200, description: 'sub, and claims of OpenID Connect' },
} as const

export const userinfo = defineEndpoint({
  ...common,
  method: 'GET',
  handle: async (call, services) => json(await answer(call, services)),
})

/** OpenID Connect Core 1.0, section 5.3.1: both methods are required. */
export const userinfoByPost = defineEndpoint({
  ...common,
  method: 'POST',
  takesForms: true,
  handle: async (call, services) => json(await answer(call, services)),
})

interface UserCall {
  readonly caller: CallerRow
}

async function answer({ caller }: UserCall, services: Services) {
  requireOAuthServer(services)
  const { oauth_grant: grant } = caller
  if (grant === null) return { sub: caller.id }
  return { sub: caller.id, ...(await toUserClaims(services, caller, grant)) }
}
