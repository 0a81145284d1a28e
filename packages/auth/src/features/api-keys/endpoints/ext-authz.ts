import { ApiError } from '../../../errors.ts'
import type { Answer, Call } from '../../../http/call.ts'
import { defineEndpoint, type Endpoint } from '../../../http/endpoint.ts'
import type { Services } from '../../../services.ts'
import { authorizeRequest } from '../authorize-request.ts'

// OPTIONS as well: Envoy would otherwise return the CORS headers of this server for the API behind it.
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

/** The first one is for the path `/`, because trailing slashes are ignored. */
const paths = ['/ext-authz', '/ext-authz/*'] as const

/** Envoy sends the method and the path of the request that it asks about, after this prefix. */
export const extAuthz: readonly Endpoint[] = paths.flatMap((path) =>
  methods.map((method) =>
    defineEndpoint({
      method,
      path,
      summary: `For Envoy (ext_authz): whether a ${method} request has a valid access token or API key`,
      allowed: 'anyone',
      answersHead: method === 'GET',
      success: {
        status: 200,
        description:
          'Headers x-auth-user-id, x-auth-role, x-auth-key-id, x-auth-scope, x-auth-plan',
      },
      handle: authorize,
    }),
  ),
)

async function authorize({ header, client }: Call, services: Services): Promise<Answer> {
  if (!services.config.apiKeys.answersExtAuthz) {
    throw new ApiError('feature_disabled', 'The endpoint for ext_authz is disabled')
  }
  // Unless it is configured to, Envoy does not pass on the address of its client.
  const shared = { sharedKey: client.limitKey ?? client.ip }
  return { status: 200, headers: await authorizeRequest(services, header('authorization'), shared) }
}
