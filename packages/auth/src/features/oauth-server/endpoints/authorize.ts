import { toConsentUrl } from '../../../config/oauth-server.ts'
import { type Answer, type Call, redirect } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { Type } from '../../../http/schema.ts'
import type { Services } from '../../../services.ts'
import { requireOAuthServer } from '../../oauth-clients/clients.ts'
import { withQuery } from '../../redirects/redirect-location.ts'
import {
  pushAuthorization,
  RefusedRequest,
  type RequestParameters,
  requestAuthorization,
  withProofKey,
} from '../authorization-request.ts'
import { toLeavingPage } from '../pages/content.ts'
import { openSilently } from '../pages/visits.ts'
import { authenticateCall, credentialFields, readProofKey, toParameters } from './client-call.ts'

const path = '/oauth/authorize'

const parameters = {
  client_id: 'The client',
  redirect_uri: 'One of the redirect URIs of the client; a loopback address with any port',
  response_type: 'code',
  scope: 'Scopes separated by spaces. Default: AUTH_OAUTH_SERVER_DEFAULT_SCOPE',
  state: 'Returned to the client',
  code_challenge: 'PKCE: the SHA-256 of the verifier as base64url',
  code_challenge_method: 'S256',
  nonce: 'Returned in the ID token',
  resource:
    'The API that the access token is for, which becomes its audience (RFC 8707). Can occur several times',
  prompt: 'none, or login, consent and select_account',
  max_age: 'How long ago the user may have signed in, in seconds',
  dpop_jkt:
    'The thumbprint of the key that must prove itself when the code is exchanged (RFC 9449)',
  request_uri: 'A request that was sent to /oauth/par; only client_id is needed with it',
}

/** The parameters as the fields of a form. */
const requestFields = Object.fromEntries(
  Object.entries(parameters).map(([name, description]) => [
    name,
    Type.Optional(Type.String({ description })),
  ]),
)

const description = 'Redirect to the consent page, or to the client with an error'

export const startAuthorization = defineEndpoint({
  method: 'GET',
  path,
  summary: 'Starts the sign-in of a user to an OAuth client',
  allowed: 'anyone',
  oauth: 'page',
  limiter: 'authorize',
  query: parameters,
  success: { status: 302, description },
  handle: (call, services) => start(call, call.query, services),
})

/** OpenID Connect Core 1.0, section 3.1.2.1: the request can also be a form. */
export const startAuthorizationByForm = defineEndpoint({
  method: 'POST',
  path,
  summary: 'Starts the sign-in of a user to an OAuth client, with the parameters in a form',
  allowed: 'anyone',
  oauth: 'page',
  limiter: 'authorize',
  takesForms: true,
  body: Type.Object(requestFields),
  success: { status: 303, description },
  async handle(call, services) {
    const answer = await start(call, call.body, services)
    return answer.status === 302 ? { ...answer, status: 303 } : answer
  },
})

async function start(call: Call, given: RequestParameters, services: Services): Promise<Answer> {
  requireOAuthServer(services)
  try {
    const { id, prompt } = await requestAuthorization(services, given)
    if (prompt === 'none') {
      const visit = { cookie: call.header('cookie'), ip: call.client.ip }
      const { location, isTrusted } = await openSilently(services, id, visit)
      return isTrusted ? redirect(location, 302) : toLeavingAnswer(services, location)
    }
    return redirect(withQuery(toConsentUrl(services.config), { authorization_id: id }), 302)
  } catch (error) {
    if (!(error instanceof RefusedRequest)) throw error
    return error.isTrusted
      ? redirect(error.location, 302)
      : toLeavingAnswer(services, error.location)
  }
}

function toLeavingAnswer(services: Services, location: string): Answer {
  const { html, headers } = toLeavingPage(services, location)
  return { status: 400, html, headers }
}

export const pushAuthorizationRequest = defineEndpoint({
  method: 'POST',
  path: '/oauth/par',
  summary:
    'Stores the parameters of /oauth/authorize, so that they are not in the browser (RFC 9126)',
  allowed: 'anyone',
  credential: 'client',
  oauth: 'api',
  limiter: 'token',
  takesForms: true,
  body: Type.Object({ ...requestFields, ...credentialFields }),
  success: { status: 201, description: 'request_uri, a parameter of /oauth/authorize' },
  async handle(call, services) {
    const client = await authenticateCall(call, services)
    const proofKey = await readProofKey(call, client, services)
    const parameters = withProofKey(toParameters(call.body), proofKey)
    const body = await pushAuthorization(services, client, parameters)
    return { status: 201, body }
  },
})
