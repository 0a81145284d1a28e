import type { Row } from '../../../db/database.ts'
import { object, statement } from '../../../db/statement.ts'
import type { Json } from '../../../stored-json.ts'
import { type AdminAction } from '../../audit/admin-action.ts'
import { actionColumns, logAction } from '../../audit/statements.ts'
import type { Time } from '../../users/statements/user-row.ts'

/** How a claim is read from the attributes of an assertion. */
export interface AttributeRule {
  readonly name?: string
  readonly names?: readonly string[]
  readonly default?: Json
  readonly array?: boolean
}

export interface AttributeMapping {
  readonly keys?: Readonly<Record<string, AttributeRule>>
}

export interface SsoProviderRow extends Row {
  readonly id: string
  readonly resource_id: string | null
  readonly disabled: boolean | null
  readonly entity_id: string
  readonly metadata_xml: string
  readonly metadata_url: string | null
  readonly metadata_read_at: Time
  readonly attribute_mapping: AttributeMapping
  readonly name_id_format: string | null
  readonly domains: readonly string[]
  readonly created_at: Time
  readonly updated_at: Time
}

/** @param domains an expression for the array of domains. */
const columns = (domains: string) => `s.id, s.resource_id, s.disabled, s.entity_id, s.metadata_xml,
  s.metadata_url, s.metadata_read_at, s.attribute_mapping, s.name_id_format, s.created_at,
  s.updated_at, ${domains} as domains`

const storedDomains = `array(select d.domain from {ns}.sso_domains d
  where d.sso_provider_id = s.id order by d.domain)`

/** The parameters of all statements that change providers. Each statement uses some of them. */
const parameters = `p as materialized (
     select * from jsonb_to_record($1::jsonb) as p(id uuid, resource_id text, disabled boolean,
       entity_id text, metadata_xml text, metadata_url text, attribute_mapping jsonb,
       name_id_format text, domains jsonb, ${actionColumns})
   )`

export interface ProviderAction extends AdminAction {
  readonly id: string
}

interface ProviderValues
  extends Pick<
    SsoProviderRow,
    'resource_id' | 'disabled' | 'metadata_xml' | 'metadata_url' | 'name_id_format'
  > {
  readonly attribute_mapping: AttributeMapping
  readonly domains: readonly string[]
}

interface NewSsoProvider extends ProviderAction, ProviderValues {
  readonly entity_id: string
}

/** A domain that is taken violates `sso_domains_pkey`. */
export const addSsoProvider = statement(
  'add_sso_provider',
  object<NewSsoProvider>(),
  `with ${parameters}, s as (
     insert into {ns}.sso_providers (id, resource_id, disabled, entity_id, metadata_xml,
       metadata_url, metadata_read_at, attribute_mapping, name_id_format, created_at, updated_at)
     select p.id, p.resource_id, p.disabled, p.entity_id, p.metadata_xml, p.metadata_url, p.now,
       p.attribute_mapping, p.name_id_format, p.now, p.now
     from p
     returning *
   ), assigned as (
     insert into {ns}.sso_domains (domain, sso_provider_id, created_at)
     select d.domain, s.id, p.now
     from s cross join p cross join jsonb_array_elements_text(p.domains) as d(domain)
     returning domain
   ), ${logAction('s')}
   select ${columns('array(select domain from assigned order by domain)')} from s`,
).returning<SsoProviderRow>()

type SsoProviderChange = ProviderAction & {
  /** Undefined: unchanged. An empty text removes a value. */
  readonly [Name in keyof ProviderValues]?: ProviderValues[Name] | undefined
}

/** Returns no row if the provider does not exist. */
export const changeSsoProvider = statement(
  'change_sso_provider',
  object<SsoProviderChange>(),
  `with ${parameters}, s as (
     update {ns}.sso_providers s
     set resource_id = nullif(coalesce(p.resource_id, s.resource_id), ''),
       disabled = coalesce(p.disabled, s.disabled),
       metadata_xml = coalesce(p.metadata_xml, s.metadata_xml),
       -- Uploaded metadata replaces metadata from a URL.
       metadata_url = case when p.metadata_xml is null then s.metadata_url
         else nullif(p.metadata_url, '') end,
       metadata_read_at = case when p.metadata_xml is null then s.metadata_read_at else p.now end,
       attribute_mapping = coalesce(p.attribute_mapping, s.attribute_mapping),
       name_id_format = nullif(coalesce(p.name_id_format, s.name_id_format), ''),
       updated_at = p.now
     from p where s.id = p.id
     returning s.*
   ), removed as (
     delete from {ns}.sso_domains d using s cross join p
     where d.sso_provider_id = s.id and p.domains is not null and not p.domains ? d.domain
     returning d.domain
   ), assigned as (
     insert into {ns}.sso_domains (domain, sso_provider_id, created_at)
     select d.domain, s.id, p.now
     from s cross join p cross join jsonb_array_elements_text(p.domains) as d(domain)
     where not exists (select from {ns}.sso_domains o
       where o.domain = d.domain and o.sso_provider_id = s.id)
     returning domain
   ), ${logAction('s')}
   select ${columns(`array(
     select domain from {ns}.sso_domains o
     where o.sso_provider_id = s.id and o.domain not in (select domain from removed)
     union select domain from assigned order by domain)`)} from s`,
).returning<SsoProviderRow>()

/** Users and their identities stay. Returns no row if the provider does not exist. */
export const removeSsoProvider = statement(
  'remove_sso_provider',
  object<ProviderAction>(),
  `with ${parameters}, s as (
     delete from {ns}.sso_providers s using p where s.id = p.id returning s.*
   ), ${logAction('s')}
   select ${columns(storedDomains)} from s`,
).returning<SsoProviderRow>()

export const findSsoProvider = statement(
  'find_sso_provider',
  ['id'],
  `select ${columns(storedDomains)} from {ns}.sso_providers s where s.id = $1`,
).returning<SsoProviderRow>()

export const findSsoProviderByResource = statement(
  'find_sso_provider_by_resource',
  ['resourceId'],
  `select ${columns(storedDomains)} from {ns}.sso_providers s
   where lower(s.resource_id) = lower($1)`,
).returning<SsoProviderRow>()

export const findSsoProviderByEntity = statement(
  'find_sso_provider_by_entity',
  ['entityId'],
  `select ${columns(storedDomains)} from {ns}.sso_providers s where s.entity_id = $1`,
).returning<SsoProviderRow>()

/** The domain is in lower case. */
export const findSsoProviderByDomain = statement(
  'find_sso_provider_by_domain',
  ['domain'],
  `select ${columns(storedDomains)}
   from {ns}.sso_domains named join {ns}.sso_providers s on s.id = named.sso_provider_id
   where named.domain = $1`,
).returning<SsoProviderRow>()

/** Returns no row if no provider has the domain. */
export const findDomainOwner = statement(
  'find_domain_owner',
  ['domain'],
  'select sso_provider_id as id from {ns}.sso_domains where domain = $1',
).returning<{ readonly id: string }>()

/** All providers, oldest first. `resourceId` and `prefix` may be null. */
export const listSsoProviders = statement(
  'list_sso_providers',
  ['resourceId', 'prefix'],
  `select ${columns(storedDomains)} from {ns}.sso_providers s
   where ($1::text is null or s.resource_id = $1)
     and ($2::text is null or starts_with(s.resource_id, $2))
   order by s.created_at, s.id`,
).returning<SsoProviderRow>()

/** Stores metadata that was read again, unless another process did so in the meantime. */
export const renewMetadata = statement(
  'renew_metadata',
  ['id', 'metadataXml', 'now', 'readAt'],
  `update {ns}.sso_providers set metadata_xml = coalesce($2, metadata_xml), metadata_read_at = $3
   where id = $1 and metadata_read_at = $4`,
)
