import { json } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { Type } from '../../../http/schema.ts'
import { requireOAuthServer } from '../../oauth-clients/enabled.ts'
import { findGrant, grants } from '../grants/index.ts'
import { oauthError } from '../oauth-error.ts'
import {
  authenticateCall,
  credentialFields,
  readProofKey,
  text,
  toParameters,
} from './client-call.ts'

const body = Type.Object({
  grant_type: text(Object.keys(grants).join(', ')),
  ...credentialFields,
  code: text('authorization_code: the code from the redirect'),
  redirect_uri: text('authorization_code: the redirect URI of the request. Optional'),
  code_verifier: text('authorization_code: the PKCE verifier'),
  device_code: text('The device grant: the code of the device'),
  subject_token: text('Token exchange: the access token that an API has received'),
  subject_token_type: text('Token exchange: urn:ietf:params:oauth:token-type:access_token'),
  requested_token_type: text('Token exchange: the same type, or absent'),
  actor_token: text('Not supported'),
  refresh_token: text('refresh_token: the current refresh token'),
  scope: text('refresh_token: a part of the granted scope. Otherwise the requested scope'),
  resource: text('The API that the access token is for. Can occur several times in a form'),
})

export const oauthToken = defineEndpoint({
  method: 'POST',
  path: '/oauth/token',
  summary: 'Issues tokens to an OAuth client',
  allowed: 'anyone',
  oauth: 'api',
  limiter: 'token',
  takesForms: true,
  body,
  success: { status: 200, description: 'A token response (RFC 6749, section 5.1)' },
  async handle(call, services) {
    requireOAuthServer(services)
    const { grant_type: type = '' } = call.body
    if (type === '') throw oauthError('invalid_request', 'grant_type is required')
    const grant = findGrant(type)
    if (grant === undefined) {
      throw oauthError('unsupported_grant_type', `Unsupported grant type: ${type.slice(0, 64)}`)
    }
    const client = await authenticateCall(call, services)
    if (!client.grant_types.includes(type)) {
      const message = `Client is not allowed to use grant type: ${type}`
      throw oauthError('unauthorized_client', message)
    }
    const { answer, onSent } = await grant(services, {
      client,
      proofKey: await readProofKey(call, client, services),
      parameters: toParameters(call.body),
      connection: call.client,
    })
    return { ...json(answer, { pragma: 'no-cache' }), ...(onSent && { onSent }) }
  },
})
