import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { ApiError, invalid } from '../../errors.ts'
import type { Services } from '../../services.ts'
import { type Administrator, toAdminAction } from '../audit/admin-action.ts'
import type { AuditAction } from '../audit/audit.ts'
import {
  type ClientFields,
  checkClientFields,
  checkGrantsOf,
  parseClientKind,
  parseMethodFor,
} from './client-fields.ts'
import {
  addOAuthClient,
  changeOAuthClient,
  findOAuthClient,
  listOAuthClients,
  type OAuthClientRow,
  removeOAuthClient,
} from './statements.ts'

/** 30 days. */
const longestOverlapSeconds = 2_592_000

/** The client as it is returned to administrators. */
export function toClientRecord(client: OAuthClientRow, secret?: string) {
  const { id, client_type, client_name, client_uri, logo_uri } = client
  return {
    client_id: id,
    ...(secret !== undefined && { client_secret: secret }),
    client_type,
    redirect_uris: client.redirect_uris,
    token_endpoint_auth_method: client.token_endpoint_auth_method,
    grant_types: client.grant_types,
    response_types: ['code'],
    ...(client_name !== '' && { client_name }),
    ...(client_uri !== '' && { client_uri }),
    ...(logo_uri !== '' && { logo_uri }),
    ...(client.scope !== '' && { scope: client.scope }),
    ...(client.dpop_bound_access_tokens && { dpop_bound_access_tokens: true }),
    registration_type: client.registration_type,
    ...(client.previous_secret_expires_at !== null && {
      previous_secret_expires_at: client.previous_secret_expires_at,
    }),
    created_at: client.created_at,
    updated_at: client.updated_at,
  }
}

export type ClientRecord = ReturnType<typeof toClientRecord>

export interface NewClientFields extends ClientFields {
  readonly client_type?: string
}

/** A client that registers itself, and can manage its registration with a token. */
export interface SelfRegistration {
  readonly token: string
}

/** The secret is returned once and cannot be read again. @throws {ApiError} */
export async function createClient(
  services: Services,
  fields: NewClientFields,
  admin: Administrator,
  registration?: SelfRegistration,
): Promise<ClientRecord> {
  const { redirect_uris = [], grant_types = [] } = fields
  const grants = grant_types.length > 0 ? grant_types : ['authorization_code', 'refresh_token']
  if (redirect_uris.length === 0 && grants.includes('authorization_code')) {
    throw invalid('redirect_uris is required')
  }
  checkClientFields({ ...fields, redirect_uris, grant_types: grants }, services.grantTypes)
  const { client_type, token_endpoint_auth_method: method } = fields
  const { clientType, authMethod } = parseClientKind(client_type, method)
  checkGrantsOf(clientType, grants, services.grantTypes)
  const secret = clientType === 'confidential' ? createSecret() : undefined
  const id = randomUUID()
  const [client] = await services.db.run(addOAuthClient, {
    client_type: clientType,
    secret_hash: secret === undefined ? null : toSecretHash(secret),
    token_endpoint_auth_method: authMethod,
    redirect_uris,
    grant_types: grants,
    client_name: fields.client_name ?? '',
    client_uri: fields.client_uri ?? '',
    logo_uri: fields.logo_uri ?? '',
    scope: fields.scope ?? '',
    dpop_bound_access_tokens: fields.dpop_bound_access_tokens ?? false,
    registration_type: registration === undefined ? 'manual' : 'dynamic',
    registration_token_hash: registration === undefined ? null : toSecretHash(registration.token),
    ...toAction(services, 'oauth_client_created', id, admin),
  })
  return toClientRecord(requireClient(client), secret)
}

/** @throws {ApiError} */
export async function getClient({ db }: Services, id: string): Promise<OAuthClientRow> {
  const [client] = await db.run(findOAuthClient, { id })
  return requireClient(client)
}

interface ClientPage {
  readonly clients: readonly ClientRecord[]
  readonly total: number
}

export async function listClients(
  { db }: Services,
  range: { readonly limit: number; readonly offset: number },
): Promise<ClientPage> {
  const rows = await db.run(listOAuthClients, range)
  return {
    clients: rows.filter((row) => row.id !== null).map((row) => toClientRecord(row)),
    total: rows[0]?.total ?? 0,
  }
}

/** @throws {ApiError} */
export async function updateClient(
  services: Services,
  id: string,
  fields: ClientFields,
  admin: Administrator,
): Promise<ClientRecord> {
  const { redirect_uris, grant_types, client_name, client_uri, logo_uri, scope } = fields
  const { token_endpoint_auth_method: method, dpop_bound_access_tokens } = fields
  const texts = { client_name, client_uri, logo_uri, scope, method }
  const given = { ...texts, redirect_uris, grant_types, dpop_bound_access_tokens }
  if (Object.values(given).every((value) => value === undefined)) {
    throw invalid('No fields provided for update')
  }
  checkClientFields(fields, services.grantTypes)
  const { client_type } = await getClient(services, id)
  checkGrantsOf(client_type, grant_types ?? [], services.grantTypes)
  const [client] = await services.db.run(changeOAuthClient, {
    ...(redirect_uris && { redirect_uris }),
    ...(grant_types && { grant_types }),
    ...(client_name !== undefined && { client_name }),
    ...(client_uri !== undefined && { client_uri }),
    ...(logo_uri !== undefined && { logo_uri }),
    ...(scope !== undefined && { scope }),
    ...(dpop_bound_access_tokens !== undefined && { dpop_bound_access_tokens }),
    ...(method !== undefined && {
      token_endpoint_auth_method: parseMethodFor(client_type, method),
    }),
    ...toAction(services, 'oauth_client_updated', id, admin),
  })
  return toClientRecord(requireClient(client))
}

/**
 * Replaces the secret.
 * @param overlapSeconds how long the previous one is still accepted.
 * @throws {ApiError}
 */
export async function renewSecret(
  services: Services,
  id: string,
  admin: Administrator,
  overlapSeconds = 0,
): Promise<ClientRecord> {
  if (!(overlapSeconds >= 0 && overlapSeconds <= longestOverlapSeconds)) {
    throw invalid(`overlap_seconds must be from 0 to ${longestOverlapSeconds}`)
  }
  const { client_type } = await getClient(services, id)
  if (client_type === 'public') throw invalid('Cannot regenerate secret for public client')
  const secret = createSecret()
  const [client] = await services.db.run(changeOAuthClient, {
    secret_hash: toSecretHash(secret),
    ...(overlapSeconds > 0 && {
      previous_secret_expires_at: new Date(services.now() + overlapSeconds * 1_000),
    }),
    ...toAction(services, 'oauth_client_updated', id, admin),
  })
  return toClientRecord(requireClient(client), secret)
}

/** @throws {ApiError} */
export async function removeClient(
  services: Services,
  id: string,
  admin: Administrator,
): Promise<void> {
  const action = toAction(services, 'oauth_client_deleted', id, admin)
  const [removed] = await services.db.run(removeOAuthClient, action)
  requireClient(removed)
}

/** @param admin the administrator, or the client that manages its own registration. */
function toAction(services: Services, action: AuditAction, id: string, admin: Administrator) {
  return { id, ...toAdminAction(services, action, admin, { client_id: id }) }
}

/** @throws {ApiError} */
function requireClient<T>(client: T | undefined): T {
  if (client !== undefined) return client
  throw new ApiError('oauth_client_not_found', 'OAuth client not found')
}

/** For client secrets and registration tokens. */
export function createSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** The secret has 256 random bits, so a plain hash cannot be reversed by guessing. */
function toSecretHash(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}

/** @throws {ApiError} unless the OAuth server is enabled. */
export function requireOAuthServer({ config }: Pick<Services, 'config'>): void {
  if (config.oauthServer.enabled) return
  throw new ApiError('feature_disabled', 'OAuth server is disabled')
}
