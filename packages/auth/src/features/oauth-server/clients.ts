import { createHash, randomUUID, timingSafeEqual } from 'node:crypto'
import { toReason } from '@portcullis/service-kit/text/reason'
import { ApiError } from '../../errors.ts'
import { OutgoingError } from '../../outgoing/http-client.ts'
import type { Services } from '../../services.ts'
import {
  type AuthMethod,
  type ClientFields,
  checkClientFields,
} from '../oauth-clients/client-fields.ts'
import {
  findClientSecrets,
  findDescribedClient,
  findOAuthClient,
  type OAuthClientRow,
  putDescribedClient,
} from '../oauth-clients/statements.ts'
import { uuidPattern } from '../sessions/bearer.ts'
import { invalidClient, oauthError } from './oauth-error.ts'

/** @param id the `client_id` of a request. @throws {ApiError} */
export async function findClient(services: Services, id: string): Promise<OAuthClientRow> {
  const { allowClientDocuments } = services.config.oauthServer
  if (allowClientDocuments && id.startsWith('https:')) return await findByDocument(services, id)
  const [client] = uuidPattern.test(id)
    ? await services.db.run(findOAuthClient, { id: id.toLowerCase() })
    : []
  // A client with a document has only one identifier.
  if (client !== undefined && client.metadata_url === null) return client
  throw new ApiError('oauth_client_not_found', 'invalid client_id', { status: 400 })
}

/** How long a document is used before it is fetched again. */
const documentLifetimeMs = 3_600_000
const documentGrants = ['authorization_code', 'refresh_token']

/**
 * Finds a client whose identifier is the URL of a document that describes it (OAuth Client ID Metadata
 * Document). The owner of the URL is the client. @throws {ApiError}
 */
async function findByDocument(services: Services, id: string): Promise<OAuthClientRow> {
  const fault = findUrlFault(id)
  if (fault !== undefined) throw invalidDocument(`The client_id ${fault}`)
  const nowMs = services.now()
  const [known] = await services.db.run(findDescribedClient, { url: id })
  const expiresAt = known?.metadata_expires_at ?? null
  if (known !== undefined && expiresAt !== null && Date.parse(expiresAt) > nowMs) return known
  const fields = parseDocument(services, id, await fetchDocument(services, new URL(id)))
  const [client] = await services.db.run(putDescribedClient, {
    id: randomUUID(),
    url: id,
    redirectUris: JSON.stringify(fields.redirect_uris),
    grantTypes: JSON.stringify(documentGrants),
    name: fields.client_name ?? '',
    uri: fields.client_uri ?? '',
    logoUri: fields.logo_uri ?? '',
    scope: '',
    now: new Date(nowMs),
    expiresAt: new Date(nowMs + documentLifetimeMs),
    isDpopBound: fields.dpop_bound_access_tokens ?? false,
  })
  if (client === undefined) throw new TypeError('The client was not stored')
  return client
}

/** A URL with several spellings would be several clients. */
function findUrlFault(id: string): string | undefined {
  if (id.length > 1_024) return 'has more than 1024 characters'
  const url = URL.parse(id)
  if (url === null || url.protocol !== 'https:') return 'must be an https URL'
  if (url.href !== id) return 'must be a URL in its normal form'
  if (url.pathname === '/') return 'must have a path'
  if (url.username !== '' || url.password !== '') return 'must not have a user name'
  return id.includes('#') ? 'must not have a fragment' : undefined
}

/** @throws {ApiError} */
async function fetchDocument(services: Services, url: URL): Promise<string> {
  try {
    return await services.fetchClientDocument(url)
  } catch (error) {
    // The reason could tell a client what is in the internal network.
    if (!(error instanceof OutgoingError)) throw error
    throw invalidDocument('The document at the client_id cannot be fetched', error)
  }
}

/** @throws {ApiError} */
function parseDocument(services: Services, id: string, text: string): ClientFields {
  const document = parseObject(text)
  if (document['client_id'] !== id) {
    throw invalidDocument('The client_id in the document must be the URL of the document')
  }
  const { token_endpoint_auth_method: method = 'none' } = document
  if (method !== 'none' || document['client_secret'] !== undefined) {
    throw invalidDocument('A client with a document has no secret: its method must be none')
  }
  const fields: ClientFields = {
    redirect_uris: readTexts(document['redirect_uris']),
    ...readText('client_name', document),
    ...readText('client_uri', document),
    ...readText('logo_uri', document),
    dpop_bound_access_tokens: document['dpop_bound_access_tokens'] === true,
  }
  try {
    checkClientFields(fields, services.grantTypes)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    throw invalidDocument(error.message)
  }
  return fields
}

/** @throws {ApiError} */
function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text))
  } catch (error) {
    throw invalidDocument(`The document at the client_id is not JSON: ${toReason(error)}`)
  }
}

function readTexts(value: unknown): readonly string[] {
  const isList = Array.isArray(value) && value.every((item) => typeof item === 'string')
  return isList ? value : []
}

function readText(name: string, document: Readonly<Record<string, unknown>>) {
  const value = document[name]
  return typeof value === 'string' ? { [name]: value } : {}
}

function invalidDocument(message: string, cause?: unknown): ApiError {
  return new ApiError('oauth_client_not_found', message, { status: 400, cause })
}

/** How a client authenticates: in the header `Authorization` or in the body. */
export interface ClientCredentials {
  readonly authorization: string | undefined
  readonly client_id: string | undefined
  readonly client_secret: string | undefined
}

interface PresentedSecret {
  readonly id: string
  readonly secret: string
  readonly method: AuthMethod
}

/** @throws {ApiError} unless the client is known and has presented its secret, if it has one. */
export async function authenticateClient(
  services: Services,
  credentials: ClientCredentials,
): Promise<OAuthClientRow> {
  const { id, secret, method } = readCredentials(credentials)
  const client = await findClient(services, id).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.code !== 'oauth_client_not_found') throw error
    throw invalidClient('Unknown client, or wrong client credentials')
  })
  const { token_endpoint_auth_method: registered } = client
  if (method !== registered) {
    throw invalidClient(
      `invalid authentication method: client is registered for '${registered}' but '${method}' was used`,
    )
  }
  if (method === 'none') return client
  const now = new Date(services.now())
  const [row] = await services.db.run(findClientSecrets, { id: client.id, now })
  const hashes = [row?.secret_hash, row?.previous_secret_hash]
  if (hashes.some((hash) => hash && isHashOf(hash, secret))) return client
  throw invalidClient('Unknown client, or wrong client credentials')
}

export function isHashOf(hash: Buffer, secret: string): boolean {
  return timingSafeEqual(hash, createHash('sha256').update(secret).digest())
}

/** @throws {ApiError} */
function readCredentials({
  authorization,
  client_id: id = '',
  client_secret: secret = '',
}: ClientCredentials): PresentedSecret {
  const basic = /^Basic +([A-Za-z\d+/]+=*)$/i.exec(authorization ?? '')?.[1]
  if (basic === undefined) {
    if (id === '') throw invalidClient('client_id is required')
    return { id, secret, method: secret === '' ? 'none' : 'client_secret_post' }
  }
  const text = Buffer.from(basic, 'base64').toString('utf8')
  const [name = '', ...rest] = text.split(':')
  const inHeader = { id: decode(name), secret: decode(rest.join(':')) }
  // RFC 6749, section 2.3: a client uses one method of authentication per request.
  if (secret !== '' || (id !== '' && id !== inHeader.id)) {
    throw oauthError(
      'invalid_request',
      'Send the client credentials once: in the header or in the body',
    )
  }
  return { ...inHeader, method: 'client_secret_basic' }
}

/** The two parts are form-encoded (RFC 6749, section 2.3.1). @throws {ApiError} */
function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw invalidClient('The client credentials in the header are not form-encoded')
  }
}
