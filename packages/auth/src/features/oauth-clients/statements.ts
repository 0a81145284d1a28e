import type { Row } from '../../db/database.ts'
import { object, statement } from '../../db/statement.ts'
import type { AdminAction } from '../audit/admin-action.ts'
import { actionColumns, logAction } from '../audit/statements.ts'
import type { Time } from '../users/statements/user-row.ts'
import type { AuthMethod, ClientType } from './client-fields.ts'

/** Whether an administrator registered the client, the client itself, or a document describes it. */
export type RegistrationType = 'manual' | 'dynamic' | 'document'

export interface OAuthClientRow extends Row {
  readonly id: string
  readonly client_type: ClientType
  readonly token_endpoint_auth_method: AuthMethod
  readonly redirect_uris: readonly string[]
  readonly grant_types: readonly string[]
  readonly client_name: string
  readonly client_uri: string
  readonly logo_uri: string
  /** Separated by spaces; empty: all. */
  readonly scope: string
  readonly dpop_bound_access_tokens: boolean
  readonly registration_type: RegistrationType
  /** The URL of the document that describes the client, which is its public identifier. */
  readonly metadata_url: string | null
  readonly metadata_expires_at: Time | null
  /** Until when the previous secret is accepted; null: there is none. */
  readonly previous_secret_expires_at: Time | null
  readonly created_at: Time
  readonly updated_at: Time
}

/** The columns of an `OAuthClientRow`. */
const clientColumns = `c.id, c.client_type, c.token_endpoint_auth_method, c.redirect_uris, c.grant_types,
  c.client_name, c.client_uri, c.logo_uri, c.scope, c.dpop_bound_access_tokens, c.registration_type,
  c.metadata_url, c.metadata_expires_at, c.previous_secret_expires_at, c.created_at, c.updated_at`

/** The parameters of all statements that change clients. Each statement uses some of them. */
const parameters = `p as materialized (
     select * from jsonb_to_record($1::jsonb) as p(id uuid, client_type text, secret_hash text,
       token_endpoint_auth_method text, redirect_uris jsonb, grant_types jsonb, client_name text,
       client_uri text, logo_uri text, scope text, dpop_bound_access_tokens boolean, registration_type text, registration_token_hash text,
       previous_secret_expires_at timestamptz, ${actionColumns})
   )`

interface ClientAction extends AdminAction {
  readonly id: string
}

interface ClientValues
  extends Pick<
    OAuthClientRow,
    | 'token_endpoint_auth_method'
    | 'redirect_uris'
    | 'grant_types'
    | 'client_name'
    | 'client_uri'
    | 'logo_uri'
    | 'scope'
    | 'dpop_bound_access_tokens'
  > {
  /** In hexadecimal; null for a public client. */
  readonly secret_hash: string | null
}

interface NewOAuthClient extends ClientAction, ClientValues {
  readonly client_type: ClientType
  readonly registration_type: RegistrationType
  /** In hexadecimal; null for a client that an administrator manages. */
  readonly registration_token_hash: string | null
}

export const addOAuthClient = statement(
  'add_oauth_client',
  object<NewOAuthClient>(),
  `with ${parameters}, c as (
     insert into {ns}.oauth_clients (id, client_type, secret_hash, token_endpoint_auth_method,
       redirect_uris, grant_types, client_name, client_uri, logo_uri, scope, dpop_bound_access_tokens,
       registration_type, registration_token_hash, created_at, updated_at)
     select p.id, p.client_type, decode(p.secret_hash, 'hex'), p.token_endpoint_auth_method,
       p.redirect_uris, p.grant_types, p.client_name, p.client_uri, p.logo_uri, p.scope,
       p.dpop_bound_access_tokens, p.registration_type, decode(p.registration_token_hash, 'hex'), p.now, p.now
     from p
     returning *
   ), ${logAction('c')}
   select ${clientColumns} from c`,
).returning<OAuthClientRow>()

export const findOAuthClient = statement(
  'find_oauth_client',
  ['id'],
  `select ${clientColumns} from {ns}.oauth_clients c where c.id = $1`,
).returning<OAuthClientRow>()

export interface SecretsRow extends Row {
  /** Null for a public client. */
  readonly secret_hash: Buffer | null
  /** Null if there is none, or if it is no longer accepted. */
  readonly previous_secret_hash: Buffer | null
  readonly registration_token_hash: Buffer | null
}

export const findClientSecrets = statement(
  'find_oauth_client_secrets',
  ['id', 'now'],
  `select secret_hash, registration_token_hash,
     case when previous_secret_expires_at > $2 then previous_secret_hash end as previous_secret_hash
   from {ns}.oauth_clients where id = $1`,
).returning<SecretsRow>()

/** A page of clients, newest first. An empty page has one row, with the total and no client. */
export const listOAuthClients = statement(
  'list_oauth_clients',
  ['limit', 'offset'],
  `select all_clients.total, c.*
   from (select count(*)::integer as total from {ns}.oauth_clients) all_clients
   left join (
     select ${clientColumns} from {ns}.oauth_clients c
     order by c.created_at desc, c.id desc limit $1 offset $2
   ) c on true
   order by c.created_at desc, c.id desc`,
).returning<{ readonly total: number } & (OAuthClientRow | { readonly id: null })>()

export const findDescribedClient = statement(
  'find_described_oauth_client',
  ['url'],
  `select ${clientColumns} from {ns}.oauth_clients c where c.metadata_url = $1`,
).returning<OAuthClientRow>()

/** Stores the content of a document, with the ID that the client has had before. */
export const putDescribedClient = statement(
  'put_described_oauth_client',
  [
    ...['id', 'url', 'redirectUris', 'grantTypes', 'name', 'uri', 'logoUri', 'scope'],
    ...['now', 'expiresAt', 'isDpopBound'],
  ] as const,
  `insert into {ns}.oauth_clients as c (id, client_type, token_endpoint_auth_method, metadata_url,
     redirect_uris, grant_types, client_name, client_uri, logo_uri, scope, registration_type,
     created_at, updated_at, metadata_expires_at, dpop_bound_access_tokens)
   values ($1, 'public', 'none', $2, $3, $4, $5, $6, $7, $8, 'document', $9, $9, $10, $11)
   on conflict (metadata_url) do update set redirect_uris = excluded.redirect_uris,
     grant_types = excluded.grant_types, client_name = excluded.client_name,
     client_uri = excluded.client_uri, logo_uri = excluded.logo_uri, scope = excluded.scope,
     dpop_bound_access_tokens = excluded.dpop_bound_access_tokens,
     updated_at = excluded.updated_at, metadata_expires_at = excluded.metadata_expires_at
   returning ${clientColumns}`,
).returning<OAuthClientRow>()

/** The identifier that the client uses and that tokens name. */
export function toPublicId(client: Pick<OAuthClientRow, 'id' | 'metadata_url'>): string {
  return client.metadata_url ?? client.id
}

interface OAuthClientChange extends ClientAction, Partial<ClientValues> {
  /** With a new secret: until when the previous one is accepted. */
  readonly previous_secret_expires_at?: Date
}

/** Fields that are absent stay as they are. Returns no row if the client does not exist. */
export const changeOAuthClient = statement(
  'change_oauth_client',
  object<OAuthClientChange>(),
  `with ${parameters}, c as (
     update {ns}.oauth_clients c
     set secret_hash = coalesce(decode(p.secret_hash, 'hex'), c.secret_hash),
       previous_secret_hash = case when p.secret_hash is null then c.previous_secret_hash
         when p.previous_secret_expires_at is not null then c.secret_hash end,
       previous_secret_expires_at = case when p.secret_hash is null
         then c.previous_secret_expires_at else p.previous_secret_expires_at end,
       token_endpoint_auth_method =
         coalesce(p.token_endpoint_auth_method, c.token_endpoint_auth_method),
       redirect_uris = coalesce(p.redirect_uris, c.redirect_uris),
       grant_types = coalesce(p.grant_types, c.grant_types),
       client_name = coalesce(p.client_name, c.client_name),
       client_uri = coalesce(p.client_uri, c.client_uri),
       logo_uri = coalesce(p.logo_uri, c.logo_uri),
       scope = coalesce(p.scope, c.scope),
       dpop_bound_access_tokens = coalesce(p.dpop_bound_access_tokens, c.dpop_bound_access_tokens),
       updated_at = p.now
     from p where c.id = p.id
     returning c.*
   ), ${logAction('c')}
   select ${clientColumns} from c`,
).returning<OAuthClientRow>()

/** Ends the client's sessions as well. Returns no row if the client does not exist. */
export const removeOAuthClient = statement(
  'remove_oauth_client',
  object<ClientAction>(),
  `with ${parameters}, c as (
     delete from {ns}.oauth_clients c using p where c.id = p.id returning c.id
   ), ended as (
     update {ns}.sessions s set revoked_at = p.now, updated_at = p.now
     from c cross join p where s.oauth_client_id = c.id and s.revoked_at is null
   ), ${logAction('c')}
   select id from c`,
)
