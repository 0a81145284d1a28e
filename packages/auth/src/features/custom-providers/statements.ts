import type { Row } from '../../db/database.ts'
import { object, statement } from '../../db/statement.ts'
import type { Discovery } from '../../plugins/providers/custom/discovery.ts'
import { type AdminAction } from '../audit/admin-action.ts'
import { actionColumns, logAction } from '../audit/statements.ts'
import type { Time } from '../users/statements/user-row.ts'
import type { CustomProviderSettings } from './settings.ts'

export interface CustomProviderRow extends Row {
  readonly id: string
  readonly identifier: string
  readonly settings: CustomProviderSettings
  readonly secret: Buffer
  readonly discovery: Discovery | null
  readonly discovered_at: Time | null
  readonly version: number
  readonly created_at: Time
  readonly updated_at: Time
}

const columns = `c.id, c.identifier, c.settings, c.secret, c.discovery, c.discovered_at, c.version,
  c.created_at, c.updated_at`

interface CustomProviderAction extends AdminAction {
  readonly id: string
}

export interface NewCustomProvider extends CustomProviderAction {
  readonly identifier: string
  readonly settings: CustomProviderSettings
  /** Encrypted, in hexadecimal. */
  readonly secret: string
  readonly discovery: Discovery | null
  /** 0: no limit. */
  readonly most: number
}

export interface CustomProviderChange extends CustomProviderAction {
  readonly settings: CustomProviderSettings
  /** Null: the secret stays as it is. */
  readonly secret: string | null
  readonly discovery: Discovery | null
  /** The version that was changed. */
  readonly version: number
}

const parameters = `p as materialized (
     select * from jsonb_to_record($1::jsonb) as p(id uuid, identifier text, settings jsonb,
       secret text, discovery jsonb, most integer, version integer, ${actionColumns})
   )`

/**
 * Returns no row if the limit is reached. An identifier that is taken violates
 * `custom_providers_identifier_key`.
 */
export const addCustomProvider = statement(
  'add_custom_provider',
  object<NewCustomProvider>(),
  `with ${parameters}, c as (
     insert into {ns}.custom_providers (id, identifier, settings, secret, discovery, discovered_at,
       created_at, updated_at)
     select p.id, p.identifier, p.settings, decode(p.secret, 'hex'), p.discovery, p.now, p.now,
       p.now
     from p
     where p.most = 0 or (select count(*) from {ns}.custom_providers) < p.most
     returning *
   ), ${logAction('c')}
   select ${columns} from c`,
).returning<CustomProviderRow>()

export const findCustomProvider = statement(
  'find_custom_provider',
  ['identifier'],
  `select ${columns} from {ns}.custom_providers c where c.identifier = $1`,
).returning<CustomProviderRow>()

/** All providers, newest first. */
export const listCustomProviders = statement(
  'list_custom_providers',
  [],
  `select ${columns} from {ns}.custom_providers c order by c.created_at desc, c.id desc`,
).returning<CustomProviderRow>()

/** Returns no row if the provider was changed or removed in the meantime. */
export const changeCustomProvider = statement(
  'change_custom_provider',
  object<CustomProviderChange>(),
  `with ${parameters}, c as (
     update {ns}.custom_providers c
     set settings = p.settings, secret = coalesce(decode(p.secret, 'hex'), c.secret),
       discovery = p.discovery, discovered_at = p.now, version = c.version + 1, updated_at = p.now
     from p where c.id = p.id and c.version = p.version
     returning c.*
   ), ${logAction('c')}
   select ${columns} from c`,
).returning<CustomProviderRow>()

/** Stores a document that was fetched again, unless the settings have changed. */
export const renewDiscovery = statement(
  'renew_discovery',
  ['id', 'version', 'discovery', 'now'],
  `update {ns}.custom_providers set discovery = $3::jsonb, discovered_at = $4
   where id = $1 and version = $2`,
)

/** Returns no row if the provider does not exist. */
export const removeCustomProvider = statement(
  'remove_custom_provider',
  object<CustomProviderAction & { readonly identifier: string }>(),
  `with ${parameters}, c as (
     delete from {ns}.custom_providers c using p where c.identifier = p.identifier returning c.id
   ), ${logAction('c')}
   select id from c`,
)
