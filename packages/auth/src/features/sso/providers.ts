import { randomUUID } from 'node:crypto'
import { isTaken } from '../../db/database-errors.ts'
import { ApiError, invalid } from '../../errors.ts'
import type { Services } from '../../services.ts'
import { type Administrator, toAdminAction } from '../audit/admin-action.ts'
import type { AuditAction } from '../audit/audit.ts'
import type { UserRow } from '../users/statements/user-row.ts'
import { readMetadata } from './metadata.ts'
import {
  checkProviderFields,
  type ProviderFields,
  parseDomain,
  parseDomains,
  parseMapping,
} from './provider-fields.ts'
import {
  addSsoProvider,
  changeSsoProvider,
  findDomainOwner,
  findSsoProvider,
  findSsoProviderByDomain,
  findSsoProviderByEntity,
  findSsoProviderByResource,
  listSsoProviders,
  removeSsoProvider,
  type SsoProviderRow,
} from './statements/providers.ts'

/** The provider as it is returned to administrators. Lists leave out the metadata. */
export function toProviderRecord(provider: SsoProviderRow, hasMetadata = true) {
  const { id, resource_id, disabled, created_at, updated_at } = provider
  const { metadata_url, name_id_format } = provider
  return {
    id,
    ...(resource_id !== null && { resource_id }),
    disabled,
    saml: {
      entity_id: provider.entity_id,
      ...(hasMetadata && { metadata_xml: provider.metadata_xml }),
      ...(metadata_url !== null && { metadata_url }),
      attribute_mapping: provider.attribute_mapping,
      ...(name_id_format !== null && { name_id_format }),
    },
    domains: provider.domains.map((domain) => ({ domain })),
    created_at,
    updated_at,
  }
}

interface NewProviderFields extends ProviderFields {
  readonly type?: string
  /** The ID of the same provider in Supabase Auth, which the identities of imported users have. */
  readonly id?: string
}

/** @throws {ApiError} */
export async function createProvider(
  services: Services,
  { type, id: givenId, ...fields }: NewProviderFields,
  admin: Administrator,
): Promise<SsoProviderRow> {
  if (type !== 'saml') throw invalid("Only 'saml' supported for SSO provider type")
  if (givenId !== undefined && !uuid.test(givenId)) throw invalid('id must be an UUID')
  checkProviderFields(fields)
  const { metadata_url: url = '', metadata_xml: xml = '' } = fields
  if (url === '' && xml === '') {
    throw invalid('Either metadata_xml or metadata_url must be set')
  }
  const domains = parseDomains(fields.domains ?? [])
  const mapping = parseMapping(fields.attribute_mapping)
  const metadata = await readMetadata(services, { url, xml })
  const { entityId } = metadata.identityProvider
  const id = givenId ?? randomUUID()
  const values = {
    entity_id: entityId,
    resource_id: fields.resource_id || null,
    disabled: fields.disabled ?? null,
    metadata_xml: metadata.xml,
    metadata_url: url || null,
    attribute_mapping: mapping,
    name_id_format: fields.name_id_format || null,
    domains,
    ...toAction(services, 'sso_provider_created', id, admin),
  }
  const [provider] = await explainConflicts(services, { domains, id, entityId }, () =>
    services.db.run(addSsoProvider, values),
  )
  return requireProvider(provider)
}

/** Fields that are not given stay as they are. @throws {ApiError} */
export async function updateProvider(
  services: Services,
  name: string,
  fields: ProviderFields,
  admin: Administrator,
): Promise<SsoProviderRow> {
  checkProviderFields(fields)
  const before = await getProvider(services, name)
  const { id, entity_id: entityId } = before
  const domains = fields.domains && parseDomains(fields.domains)
  const change = {
    resource_id: fields.resource_id,
    disabled: fields.disabled,
    ...(await readNewMetadata(services, fields, entityId)),
    attribute_mapping:
      fields.attribute_mapping === undefined ? undefined : parseMapping(fields.attribute_mapping),
    name_id_format: fields.name_id_format,
    domains,
    ...toAction(services, 'sso_provider_updated', id, admin),
  }
  const named = { domains: domains ?? [], id, entityId }
  const [provider] = await explainConflicts(services, named, () =>
    services.db.run(changeSsoProvider, change),
  )
  return requireProvider(provider)
}

/** The entity ID identifies the provider to its users, so it must stay the same. */
async function readNewMetadata(services: Services, fields: ProviderFields, entityId: string) {
  const { metadata_url: url = '', metadata_xml: xml = '' } = fields
  if (url === '' && xml === '') return {}
  const metadata = await readMetadata(services, { url, xml })
  const given = metadata.identityProvider.entityId
  if (given !== entityId) {
    throw new ApiError(
      'saml_entity_id_mismatch',
      `SAML Metadata can be updated only if the EntityID matches for the provider; expected '${entityId}' but got '${given}'`,
    )
  }
  return { metadata_xml: metadata.xml, metadata_url: url }
}

/** @throws {ApiError} */
export async function removeProvider(
  services: Services,
  name: string,
  admin: Administrator,
): Promise<SsoProviderRow> {
  const provider = await getProvider(services, name)
  const action = toAction(services, 'sso_provider_deleted', provider.id, admin)
  await services.db.run(removeSsoProvider, action)
  return provider
}

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i
const resourcePrefix = 'resource_'

/** @param name the ID, or `resource_` and the resource ID. @throws {ApiError} */
export async function getProvider({ db }: Services, name: string): Promise<SsoProviderRow> {
  if (name.startsWith(resourcePrefix)) {
    const resourceId = name.slice(resourcePrefix.length)
    return requireProvider((await db.run(findSsoProviderByResource, { resourceId }))[0])
  }
  if (!uuid.test(name)) return requireProvider(undefined)
  return requireProvider((await db.run(findSsoProvider, { id: name }))[0])
}

interface ProviderFilter {
  /** Empty: the providers whose resource ID has the prefix. */
  readonly resourceId: string
  readonly prefix: string
}

/** Oldest first. */
export async function listProviders(
  { db }: Pick<Services, 'db'>,
  { resourceId, prefix }: ProviderFilter,
): Promise<readonly SsoProviderRow[]> {
  return await db.run(listSsoProviders, {
    resourceId: resourceId || null,
    prefix: resourceId ? null : prefix || null,
  })
}

interface ProviderChoice {
  readonly provider_id?: string
  readonly domain?: string
}

/** Finds the provider that a user signs in with. @throws {ApiError} */
export async function chooseProvider(
  { db }: Services,
  { provider_id: id = '', domain = '' }: ProviderChoice,
): Promise<SsoProviderRow> {
  if (id !== '' && domain !== '') throw invalid('Only one of provider_id or domain supported')
  if (id === '' && domain === '') throw invalid('A provider_id or domain needs to be provided')
  const [provider] =
    id === ''
      ? await db.run(findSsoProviderByDomain, { domain: parseDomain(domain) })
      : uuid.test(id)
        ? await db.run(findSsoProvider, { id })
        : []
  if (provider === undefined) {
    const message = id === '' ? 'No SSO provider assigned for this domain' : 'No such SSO provider'
    throw new ApiError('sso_provider_not_found', message)
  }
  return checkEnabled(provider)
}

/**
 * Whether an address counts as verified because this provider says that it belongs to a user. Not if
 * its domain is that of another provider, because each provider can claim any address.
 */
export async function mayVouchFor(
  { db }: Pick<Services, 'db'>,
  { id, domains = [] }: Pick<SsoProviderRow, 'id'> & Partial<Pick<SsoProviderRow, 'domains'>>,
  email: string,
): Promise<boolean> {
  const domain = toDomain(email)
  if (domains.includes(domain)) return true
  const [owner] = await db.run(findDomainOwner, { domain })
  return owner === undefined || owner.id === id
}

/** Whether the domain of a user's address is one of the provider that the user signs in with. */
export async function isInDomainOfProvider(
  { db }: Pick<Services, 'db'>,
  { email, raw_app_meta_data: { provider } }: Pick<UserRow, 'email' | 'raw_app_meta_data'>,
): Promise<boolean> {
  const [owner] = await db.run(findDomainOwner, { domain: toDomain(email ?? '') })
  return owner !== undefined && provider === `sso:${owner.id}`
}

function toDomain(email: string): string {
  return email.slice(email.lastIndexOf('@') + 1)
}

/** @throws {ApiError} */
export async function getProviderOfEntity(
  { db }: Services,
  entityId: string,
): Promise<SsoProviderRow> {
  const [provider] = await db.run(findSsoProviderByEntity, { entityId })
  if (provider !== undefined) return checkEnabled(provider)
  throw new ApiError(
    'saml_idp_not_found',
    'A SAML connection has not been established with this Identity Provider',
  )
}

/** @throws {ApiError} */
export function checkEnabled(provider: SsoProviderRow): SsoProviderRow {
  if (provider.disabled !== true) return provider
  throw new ApiError('sso_provider_disabled', 'SSO Provider is currently disabled')
}

function toAction(services: Services, action: AuditAction, id: string, admin: Administrator) {
  return { id, ...toAdminAction(services, action, admin, { sso_provider_id: id }) }
}

function requireProvider(provider: SsoProviderRow | undefined): SsoProviderRow {
  if (provider !== undefined) return provider
  throw new ApiError('sso_provider_not_found', 'SSO Identity Provider not found')
}

interface Named {
  readonly id: string
  readonly entityId: string
  readonly domains: readonly string[]
}

/** @throws {ApiError} that names what another provider already has. */
async function explainConflicts<Result>(
  { db }: Services,
  { id, entityId, domains }: Named,
  write: () => Promise<Result>,
): Promise<Result> {
  try {
    return await write()
  } catch (error) {
    if (isTaken(error, 'sso_providers_entity_id')) {
      throw new ApiError(
        'saml_idp_already_exists',
        `SAML Identity Provider with this EntityID (${entityId}) already exists`,
      )
    }
    if (isTaken(error, 'sso_providers_pkey')) {
      throw new ApiError('conflict', 'Another SSO provider has this id')
    }
    if (isTaken(error, 'sso_providers_resource_id')) {
      throw new ApiError('conflict', 'Another SSO provider has this resource_id')
    }
    if (!isTaken(error, 'sso_domains_pkey')) throw error
    for (const domain of domains) {
      const [owner] = await db.run(findSsoProviderByDomain, { domain })
      if (owner === undefined || owner.id === id) continue
      throw new ApiError(
        'sso_domain_already_exists',
        `SSO Domain '${domain}' is already assigned to an SSO identity provider (${owner.id})`,
      )
    }
    throw error
  }
}
