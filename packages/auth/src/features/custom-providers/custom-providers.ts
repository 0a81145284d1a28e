import { randomUUID } from 'node:crypto'
import { isTaken } from '../../db/database-errors.ts'
import { ApiError, invalid } from '../../errors.ts'
import { OutgoingError } from '../../outgoing/http-client.ts'
import { type Discovery, DiscoveryError } from '../../plugins/providers/custom/discovery.ts'
import type { Services } from '../../services.ts'
import { type Administrator, toAdminAction } from '../audit/admin-action.ts'
import type { AuditAction } from '../audit/audit.ts'
import {
  type CustomProviderSettings,
  type GivenFields,
  mergeSettings,
  parseIdentifier,
  toDiscoveryPlace,
} from './settings.ts'
import {
  addCustomProvider,
  type CustomProviderRow,
  changeCustomProvider,
  findCustomProvider,
  listCustomProviders,
  removeCustomProvider,
} from './statements.ts'

export interface CustomProviderFields extends GivenFields {
  readonly client_secret?: string
}

/** A provider as administrators see it, without its secret. */
export function toProviderRecord({ customProviders }: Services, row: CustomProviderRow) {
  const fields = Object.entries(row.settings).filter(([, value]) => value !== null)
  return {
    id: row.id,
    ...Object.fromEntries(fields),
    ...(row.discovery !== null && { discovery_document: row.discovery }),
    callback_url: customProviders.toRedirectUri(row.identifier),
    created_at: row.created_at,
    updated_at: row.updated_at,
  }
}

/** @throws {ApiError} */
export async function createCustomProvider(
  services: Services,
  { client_secret: secret = '', ...given }: CustomProviderFields,
  admin: Administrator,
): Promise<CustomProviderRow> {
  const { db, customProviders, config, factorSecrets } = services
  const identifier = parseIdentifier(`${given.identifier ?? ''}`)
  if (secret === '') throw invalid('client_secret is required')
  const settings = mergeSettings(undefined, given, customProviders)
  const discovery = await discover(services, settings)
  const id = randomUUID()
  const { mostProviders: most } = config.customOAuth
  try {
    const [row] = await db.run(addCustomProvider, {
      ...toAction(services, 'custom_provider_created', { id, identifier }, admin),
      settings,
      secret: factorSecrets.seal(Buffer.from(secret), id).toString('hex'),
      discovery: discovery ?? null,
      most,
    })
    if (row !== undefined) return row
  } catch (error) {
    if (!isTaken(error, 'custom_providers_identifier_key')) throw error
    const message = 'A custom OAuth provider with this identifier already exists'
    throw new ApiError('conflict', message, { status: 400 })
  }
  const message = 'Maximum number of custom OAuth/OIDC providers reached'
  throw new ApiError('over_custom_provider_quota', message)
}

/** @throws {ApiError} */
export async function getCustomProvider(
  { db }: Services,
  identifier: string,
): Promise<CustomProviderRow> {
  const [row] = await db.run(findCustomProvider, { identifier: parseIdentifier(identifier) })
  if (row === undefined) throw notFound()
  return row
}

/** @param type undefined: all providers. @throws {ApiError} */
export async function listProviders(
  { db }: Services,
  type: string | undefined,
): Promise<readonly CustomProviderRow[]> {
  if (type !== undefined && type !== 'oauth2' && type !== 'oidc') {
    throw invalid("type must be either 'oauth2' or 'oidc'")
  }
  const rows = await db.run(listCustomProviders, {})
  return rows.filter(({ settings }) => type === undefined || settings.provider_type === type)
}

/** The identifier and the type cannot be changed. @throws {ApiError} */
export async function updateCustomProvider(
  services: Services,
  name: string,
  { client_secret: secret = '', ...given }: CustomProviderFields,
  admin: Administrator,
): Promise<CustomProviderRow> {
  const { db, customProviders, factorSecrets } = services
  const before = await getCustomProvider(services, name)
  const { id, identifier, version } = before
  const { provider_type } = before.settings
  const fixed = { ...given, identifier, provider_type }
  const settings = mergeSettings(before.settings, fixed, customProviders)
  const isMoved = given.issuer !== undefined || given.discovery_url !== undefined
  const discovery = isMoved ? await discover(services, settings) : before.discovery
  const [row] = await db.run(changeCustomProvider, {
    ...toAction(services, 'custom_provider_updated', { id, identifier }, admin),
    settings,
    secret: secret === '' ? null : factorSecrets.seal(Buffer.from(secret), id).toString('hex'),
    discovery: discovery ?? null,
    version,
  })
  if (row !== undefined) return row
  throw new ApiError('conflict', 'The provider is being changed, please try again')
}

/** Users keep their identities, with which they cannot sign in any more. @throws {ApiError} */
export async function deleteCustomProvider(
  services: Services,
  name: string,
  admin: Administrator,
): Promise<void> {
  const { id, identifier } = await getCustomProvider(services, name)
  const action = toAction(services, 'custom_provider_deleted', { id, identifier }, admin)
  const [removed] = await services.db.run(removeCustomProvider, action)
  if (removed === undefined) throw notFound()
}

async function discover(
  { customProviders }: Services,
  settings: CustomProviderSettings,
): Promise<Discovery | undefined> {
  const place = toDiscoveryPlace(settings)
  try {
    return place && (await customProviders.discover(place))
  } catch (cause) {
    const failed = `OIDC discovery from "${place?.url}" failed`
    if (cause instanceof DiscoveryError) throw invalid(`${failed}: ${cause.message}`, { cause })
    if (!(cause instanceof OutgoingError)) throw cause
    // The reason is only logged, because it would show which internal hosts exist.
    throw invalid(`${failed}: the document cannot be fetched`, { cause })
  }
}

function toAction(
  services: Services,
  action: AuditAction,
  { id, identifier }: Pick<CustomProviderRow, 'id' | 'identifier'>,
  admin: Administrator,
) {
  return { id, identifier, ...toAdminAction(services, action, admin, { provider: identifier }) }
}

function notFound(): ApiError {
  return new ApiError('custom_provider_not_found', 'Custom OAuth provider not found')
}
