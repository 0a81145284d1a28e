import { ApiError } from '../../../errors.ts'
import type { Answer, Call } from '../../../http/call.ts'
import { defineEndpoint, type Endpoint } from '../../../http/endpoint.ts'
import type { Services } from '../../../services.ts'
import { authorizeRequest } from '../authorize-request.ts'

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** Envoy sends the method and the path of the request that it asks about, after this prefix. */
export const extAuthz: readonly Endpoint[] = methods.map((method) =>
  defineEndpoint({
    method,
    path: '/ext-authz/*',
    summary: `For Envoy (ext_authz): whether a ${method} request has a valid access token or API key`,
    allowed: 'anyone',
    answersHead: method === 'GET',
    success: {
      status: 200,
      description: 'Headers x-auth-user-id, x-auth-role, x-auth-key-id, x-auth-scope, x-auth-plan',
    },
    handle: authorize,
  }),
)

async function authorize({ header }: Call, services: Services): Promise<Answer> {
  if (!services.config.apiKeys.answersExtAuthz) {
    throw new ApiError('feature_disabled', 'The endpoint for ext_authz is disabled')
  }
  const caller = await authorizeRequest(services, header('authorization'))
  return {
    status: 200,
    // All of them are always present, so that they replace those that a client has sent.
    headers: {
      'x-auth-user-id': caller.subject,
      'x-auth-role': caller.role,
      'x-auth-key-id': caller.keyId,
      'x-auth-scope': caller.scope,
      'x-auth-plan': encodeURIComponent(caller.plan),
    },
  }
}
