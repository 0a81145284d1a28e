import { randomUUID } from 'node:crypto'
import { toReason } from '@portcullis/service-kit/text/reason'
import { ApiError } from '../../errors.ts'
import { OutgoingError } from '../../outgoing/http-client.ts'
import type { Services } from '../../services.ts'
import { type ClientFields, checkClientFields } from '../oauth-clients/client-fields.ts'
import {
  findDescribedClient,
  type OAuthClientRow,
  putDescribedClient,
} from '../oauth-clients/statements.ts'

/** How long a document is used before it is fetched again. */
const lifetimeMs = 3_600_000
const documentGrants = ['authorization_code', 'refresh_token']

/**
 * Finds a client whose identifier is the URL of a document that describes it (OAuth Client ID Metadata
 * Document). The owner of the URL is the client. @throws {ApiError}
 */
export async function findByDocument(services: Services, id: string): Promise<OAuthClientRow> {
  const fault = findUrlFault(id)
  if (fault !== undefined) throw invalidDocument(`The client_id ${fault}`)
  const nowMs = services.now()
  const [known] = await services.db.run(findDescribedClient, { url: id })
  const expiresAt = known?.metadata_expires_at ?? null
  if (known !== undefined && expiresAt !== null && Date.parse(expiresAt) > nowMs) return known
  const fields = parseDocument(id, await fetchDocument(services, new URL(id)))
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
    expiresAt: new Date(nowMs + lifetimeMs),
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
function parseDocument(id: string, text: string): ClientFields {
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
    checkClientFields(fields)
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
