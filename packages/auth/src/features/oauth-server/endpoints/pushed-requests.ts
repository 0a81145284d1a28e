import { defineEndpoint } from '../../../http/endpoint.ts'
import { Type } from '../../../http/schema.ts'
import { pushAuthorization, withProofKey } from '../authorization-request.ts'
import { requestFields } from './authorize.ts'
import { authenticateCall, credentialFields, readProofKey, toParameters } from './client-call.ts'

export const pushAuthorizationRequest = defineEndpoint({
  method: 'POST',
  path: '/oauth/par',
  summary:
    'Stores the parameters of /oauth/authorize, so that they are not in the browser (RFC 9126)',
  allowed: 'anyone',
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
