import type { Allowed, Credential, Endpoint } from './endpoint.ts'
import { captchaFields } from './stages/captcha.ts'

/** The error response of every endpoint. */
const errorSchema = {
  type: 'object',
  required: ['code', 'msg'],
  properties: {
    code: {
      type: ['integer', 'string'],
      description:
        'The HTTP status; or the error code if the request has the header X-Supabase-Api-Version with 2024-01-01 or later',
    },
    msg: { type: 'string' },
    error_code: { type: 'string' },
    error_id: {
      type: 'string',
      description: 'Id of the request in the log; present for server errors',
    },
    weak_password: {
      type: 'object',
      properties: { reasons: { type: 'array', items: { type: 'string' } } },
    },
  },
}

const security: Readonly<Record<Allowed, readonly object[]>> = {
  anyone: [],
  user: [{ user: [] }],
  'former user': [{ user: [] }],
  admin: [{ admin: [] }],
}

const bearer = { type: 'http', scheme: 'bearer' }

const credentials: Readonly<Record<Credential, object>> = {
  scim: { ...bearer, description: 'SCIM token of an identity provider' },
  client: {
    type: 'http',
    scheme: 'basic',
    description: 'Identifier and secret of an OAuth client; clients can also send them in the body',
  },
  registration: {
    ...bearer,
    description: 'The registration_access_token of an OAuth client that has registered itself',
  },
}

/** Generates a description of the API in OpenAPI 3.1 from the endpoints. */
export function toOpenApi(endpoints: readonly Endpoint[], version: string, url: string): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const endpoint of endpoints) {
    const path = endpoint.path.replaceAll(/:(\w+)/g, '{$1}')
    const operations = paths[path] ?? {}
    operations[endpoint.method.toLowerCase()] = toOperation(endpoint)
    paths[path] = operations
  }
  const token = { ...bearer, bearerFormat: 'JWT' }
  return {
    openapi: '3.1.0',
    info: { title: 'Portcullis Auth', version },
    servers: [{ url }],
    paths,
    components: {
      schemas: { Error: errorSchema },
      securitySchemes: {
        user: { ...token, description: 'Access token of a user' },
        admin: { ...token, description: 'Token with one of the roles in AUTH_JWT_ADMIN_ROLES' },
        ...credentials,
      },
    },
  }
}

/** Clients can have a URL as their identifier, and identity providers a name. */
const isUuid = /^(?!client_|idp_).*_id$/

function toOperation(endpoint: Endpoint): object {
  const { method, path, summary, allowed, credential, query, success } = endpoint
  const body = toBody(endpoint)
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string', ...(isUuid.test(name ?? '') && { format: 'uuid' }) },
  }))
  const inQuery = Object.entries(query ?? {}).map(([name, description]) => ({
    name,
    in: 'query',
    description,
    schema: { type: 'string' },
  }))
  return {
    operationId: `${method.toLowerCase()}${path.replaceAll(/[^\w]+/g, '_')}`,
    summary,
    security: credential === undefined ? security[allowed] : [{ [credential]: [] }],
    parameters: [...inPath, ...inQuery],
    ...(body && { requestBody: { content: { 'application/json': { schema: body } } } }),
    responses: {
      [success.status]: { description: success.description },
      default: {
        description: 'Error',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    },
  }
}

function toBody({ body, captcha }: Endpoint): object | undefined {
  if (captcha === undefined) return body
  return body === undefined ? captchaFields : { allOf: [body, captchaFields] }
}
