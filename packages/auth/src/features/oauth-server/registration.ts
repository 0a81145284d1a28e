import { ApiError } from '../../errors.ts'
import type { Services } from '../../services.ts'
import type { Administrator } from '../audit/admin-action.ts'
import { findTrustedGrant } from '../oauth-clients/client-fields.ts'
import {
  type ClientRecord,
  createClient,
  createSecret,
  getClient,
  type NewClientFields,
  removeClient,
  toClientRecord,
  updateClient,
} from '../oauth-clients/clients.ts'
import { findClientSecrets } from '../oauth-clients/statements.ts'
import { isHashOf } from './clients.ts'
import { invalidToken, oauthError } from './oauth-error.ts'

/** What a client sends to register itself (RFC 7591, section 2). Other fields are ignored. */
export interface ClientMetadata extends NewClientFields {
  readonly response_types?: readonly string[]
}

/** The registration of a client, with the token that changes it. */
export interface Registration {
  readonly client: ClientRecord
  readonly token: string
}

/** How the audit log names a client that changes its own registration. */
const actor = 'oauth_client'

/** @throws {ApiError} */
export async function registerClient(
  services: Services,
  metadata: ClientMetadata,
  ip: string,
): Promise<Registration> {
  if (!services.config.oauthServer.allowDynamicRegistration) {
    throw new ApiError(
      'oauth_dynamic_client_registration_disabled',
      'Dynamic client registration is not enabled',
      { oauthError: 'access_denied' },
    )
  }
  checkMetadata(services, metadata)
  const token = createSecret()
  const admin = { adminRole: actor, ip }
  const client = await asMetadataError(() => createClient(services, metadata, admin, { token }))
  return { client, token }
}

/** A client that manages its registration with the token that it got (RFC 7592). */
export interface RegisteredClient {
  readonly id: string
  readonly token: string | undefined
  readonly ip: string
}

/** @throws {ApiError} */
export async function readRegistration(
  services: Services,
  client: RegisteredClient,
): Promise<Registration> {
  const token = await checkRegistrationToken(services, client)
  return { client: toClientRecord(await getClient(services, client.id)), token }
}

/** Replaces the metadata. @throws {ApiError} */
export async function changeRegistration(
  services: Services,
  registered: RegisteredClient,
  metadata: ClientMetadata,
): Promise<Registration> {
  const token = await checkRegistrationToken(services, registered)
  checkMetadata(services, metadata)
  const texts = { client_name: '', client_uri: '', logo_uri: '', scope: '' }
  const empty = { ...texts, dpop_bound_access_tokens: false }
  const { client_type: _, ...fields } = metadata
  const admin: Administrator = { adminRole: actor, ip: registered.ip }
  const client = await asMetadataError(() =>
    updateClient(services, registered.id, { ...empty, ...fields }, admin),
  )
  return { client, token }
}

/** @throws {ApiError} */
export async function endRegistration(
  services: Services,
  registered: RegisteredClient,
): Promise<void> {
  await checkRegistrationToken(services, registered)
  await removeClient(services, registered.id, { adminRole: actor, ip: registered.ip })
}

/** @throws {ApiError} unless the token belongs to the client. */
async function checkRegistrationToken(
  services: Services,
  { id, token = '' }: RegisteredClient,
): Promise<string> {
  const now = new Date(services.now())
  const [row] = await services.db.run(findClientSecrets, { id, now })
  const hash = row?.registration_token_hash
  if (hash && isHashOf(hash, token)) return token
  throw invalidToken('The registration access token does not belong to this client')
}

/** @throws {ApiError} */
function checkMetadata(
  { grantTypes }: Services,
  { response_types: types = ['code'], grant_types = [] }: ClientMetadata,
): void {
  if (types.some((type) => type !== 'code')) {
    throw oauthError('invalid_client_metadata', 'response_types must only contain code')
  }
  // Such a client would get tokens without any user, so that anyone could.
  const trusted = findTrustedGrant(grant_types, grantTypes)
  if (trusted !== undefined) {
    const message = `Only an administrator can register a client for ${trusted}`
    throw oauthError('invalid_client_metadata', message)
  }
}

/** RFC 7591, section 3.2.2. */
async function asMetadataError<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'validation_failed') throw error
    const isUri = error.message.includes('redirect')
    throw oauthError(isUri ? 'invalid_redirect_uri' : 'invalid_client_metadata', error.message)
  }
}
