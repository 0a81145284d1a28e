import { json } from '../../http/call.ts'
import { defineEndpoint, type Endpoint } from '../../http/endpoint.ts'
import { toOpenApi } from '../../http/openapi.ts'

export function createOpenApi(endpoints: readonly Endpoint[]): Endpoint {
  return defineEndpoint({
    method: 'GET',
    path: '/openapi.json',
    summary: 'This description',
    allowed: 'anyone',
    success: { status: 200, description: 'The API in OpenAPI 3.1' },
    handle: async (_call, { version, config }) =>
      json(toOpenApi(endpoints, version, config.api.externalUrl)),
  })
}
