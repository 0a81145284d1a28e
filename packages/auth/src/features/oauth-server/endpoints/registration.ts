import { json, noContent } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { Type } from '../../../http/schema.ts'
import type { Services } from '../../../services.ts'
import { requireOAuthServer } from '../../oauth-clients/clients.ts'
import { clientFields } from '../../oauth-clients/endpoints.ts'
import { uuidPattern } from '../../sessions/bearer.ts'
import { invalidToken } from '../oauth-error.ts'
import {
  changeRegistration,
  endRegistration,
  type RegisteredClient,
  type Registration,
  readRegistration,
  registerClient,
} from '../registration.ts'

const path = '/oauth/clients/register'
const clientPath = `${path}/:client_id`

const metadata = Type.Object({
  ...clientFields,
  response_types: Type.Optional(Type.Array(Type.String(), { description: 'code' })),
  client_type: Type.Optional(Type.String({ description: 'confidential or public' })),
})

const common = {
  allowed: 'anyone',
  oauth: 'api',
  limiter: 'oauth_register',
} as const

const ofClient = { ...common, path: clientPath, credential: 'registration' } as const

export const registerOAuthClient = defineEndpoint({
  ...common,
  method: 'POST',
  path,
  summary: 'Registers the client that calls, if dynamic registration is enabled (RFC 7591)',
  body: metadata,
  success: {
    status: 201,
    description: 'The client with its secret, and with a token that changes the registration',
  },
  async handle({ body, client }, services) {
    requireOAuthServer(services)
    const registration = await registerClient(services, body, client.ip)
    return { status: 201, body: toBody(services, registration) }
  },
})

export const readOAuthRegistration = defineEndpoint({
  ...ofClient,
  method: 'GET',
  summary: 'Returns the registration of the client that calls (RFC 7592)',
  success: { status: 200, description: 'The client, without its secret' },
  async handle(call, services) {
    requireOAuthServer(services)
    return json(toBody(services, await readRegistration(services, toRegistered(call))))
  },
})

export const changeOAuthRegistration = defineEndpoint({
  ...ofClient,
  method: 'PUT',
  summary: 'Replaces the metadata of the client that calls (RFC 7592)',
  body: metadata,
  success: { status: 200, description: 'The client, without its secret' },
  async handle(call, services) {
    requireOAuthServer(services)
    const registered = toRegistered(call)
    return json(toBody(services, await changeRegistration(services, registered, call.body)))
  },
})

export const endOAuthRegistration = defineEndpoint({
  ...ofClient,
  method: 'DELETE',
  summary: 'Removes the client that calls (RFC 7592)',
  success: { status: 204, description: 'The client was removed' },
  async handle(call, services) {
    requireOAuthServer(services)
    await endRegistration(services, toRegistered(call))
    return noContent
  },
})

interface RegistrationCall {
  readonly params: Readonly<Record<string, string>>
  readonly client: { readonly ip: string }
  header(name: string): string | undefined
}

/** @throws {ApiError} */
function toRegistered({ params, client, header }: RegistrationCall): RegisteredClient {
  const id = params['client_id'] ?? ''
  if (!uuidPattern.test(id)) throw invalidToken('There is no such client')
  const token = /^Bearer (\S+)$/i.exec(header('authorization') ?? '')?.[1]
  return { id: id.toLowerCase(), token, ip: client.ip }
}

function toBody({ config }: Services, { client, token }: Registration) {
  return {
    ...client,
    client_id_issued_at: Math.floor(Date.parse(client.created_at) / 1_000),
    ...(client.client_secret !== undefined && { client_secret_expires_at: 0 }),
    registration_access_token: token,
    registration_client_uri: `${config.api.externalUrl}${path}/${client.client_id}`,
  }
}
