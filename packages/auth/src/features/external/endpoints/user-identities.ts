import { ApiError, invalid } from '../../../errors.ts'
import { json } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { uuidPattern } from '../../sessions/bearer.ts'
import { checkManualLinking, requireLinker, unlinkIdentity } from '../identities.ts'
import { externalQuery, startRequest } from './external-request.ts'

export const linkUserIdentity = defineEndpoint({
  method: 'GET',
  path: '/user/identities/authorize',
  summary: 'Sends the user who asks to a provider, whose identity becomes theirs',
  allowed: 'user',
  limiter: 'authorize',
  query: {
    ...externalQuery,
    skip_http_redirect: 'true: answer the URL in place of a redirect there',
  },
  success: {
    status: 200,
    description:
      'The URL of the provider, or without PKCE that of a page here; without the flag 302 to the provider',
  },
  async handle(call, services) {
    const { caller } = call
    requireLinker(services, caller)
    const isByScript = call.query['skip_http_redirect'] === 'true'
    const { url, ...answer } = await startRequest(call, services, {
      linking: { userId: caller.id, sessionId: caller.session_id },
      isByScript,
    })
    if (!isByScript) return answer
    const { location: _, ...headers } = answer.headers
    return json({ url }, headers)
  },
})

export const unlinkUserIdentity = defineEndpoint({
  method: 'DELETE',
  path: '/user/identities/:identity_id',
  summary: 'Takes an identity from the user who asks, who must have another one',
  allowed: 'user',
  success: { status: 200, description: 'An empty object' },
  async handle({ caller, params, client, audience }, services) {
    checkManualLinking(services)
    const { identity_id: id = '' } = params
    if (!uuidPattern.test(id)) throw invalid('identity_id must be an UUID', { status: 404 })
    if (caller.aud !== audience) {
      const message = "Token audience doesn't match request audience"
      throw new ApiError('unexpected_audience', message)
    }
    await unlinkIdentity(services, caller, id, client)
    return json({})
  },
})
