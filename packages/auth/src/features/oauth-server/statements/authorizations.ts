import type { Row } from '../../../db/database.ts'
import { object, statement } from '../../../db/statement.ts'
import type { NewAuditEntry } from '../../../messages/statements/request-parts.ts'
import type { ClientType } from '../../oauth-clients/client-fields.ts'
import type { RegistrationType } from '../../oauth-clients/statements.ts'
import type { Amr } from '../../sessions/statements/sessions.ts'
import type { Time } from '../../users/statements/user-row.ts'

export interface NewAuthorization {
  readonly id: string
  readonly client_id: string
  /** A pushed request waits for the browser that starts it. */
  readonly status: 'pushed' | 'pending'
  readonly redirect_uri: string
  readonly scope: string
  readonly state: string
  readonly nonce: string
  readonly resource: string
  readonly code_challenge: string
  /** The thumbprint of the key that must prove itself when the code is exchanged. */
  readonly dpop_jkt: string | null
  readonly prompt: string
  /** In seconds. */
  readonly max_age: number | null
  readonly created_at: Date
  readonly expires_at: Date
}

export const addAuthorization = statement(
  'add_oauth_authorization',
  object<NewAuthorization>(),
  `insert into {ns}.oauth_authorizations (id, client_id, status, redirect_uri, scope, state, nonce,
     resource, code_challenge, dpop_jkt, prompt, max_age, created_at, expires_at)
   select p.id, p.client_id, p.status, p.redirect_uri, p.scope, p.state, p.nonce, p.resource,
     p.code_challenge, p.dpop_jkt, p.prompt, p.max_age, p.created_at, p.expires_at
   from jsonb_to_record($1::jsonb) as p(id text, client_id uuid, status text, redirect_uri text,
     scope text, state text, nonce text, resource text, code_challenge text, dpop_jkt text, prompt text, max_age integer,
     created_at timestamptz, expires_at timestamptz)`,
)

/** Starts a pushed request, once. */
export const startPushedAuthorization = statement(
  'start_pushed_oauth_authorization',
  ['id', 'clientId', 'now', 'expiresAt'],
  `update {ns}.oauth_authorizations a set status = 'pending', created_at = $3, expires_at = $4
   where a.id = $1 and a.client_id = $2 and a.status = 'pushed' and a.expires_at > $3
   returning a.id, a.prompt`,
).returning<{ readonly id: string; readonly prompt: string }>()

/** A request that the user has not decided about, with its client. */
export interface PendingRow extends Row {
  readonly id: string
  readonly user_id: string | null
  readonly redirect_uri: string
  readonly scope: string
  readonly state: string
  readonly resource: string
  readonly prompt: string
  readonly max_age: number | null
  readonly created_at: Time
  readonly client_id: string
  readonly client_type: ClientType
  readonly client_name: string
  readonly client_uri: string
  readonly logo_uri: string
  readonly metadata_url: string | null
  readonly registration_type: RegistrationType
  /** Null unless a device started the request. */
  readonly user_code: string | null
}

const pendingColumns = `a.id, a.user_id, a.redirect_uri, a.scope, a.state, a.resource, a.prompt,
  a.max_age, a.created_at, c.id as client_id, c.client_type, c.client_name, c.client_uri, c.logo_uri,
  c.metadata_url, c.registration_type, a.user_code`

/** The resources of a request; the empty text stands for a request without one. */
const resourcesOf = (request: string) => `regexp_split_to_table(${request}.resource, ' ')`

const isPending = (now: string) => `a.status = 'pending' and a.expires_at > ${now}`

export const findPending = statement(
  'find_pending_oauth_authorization',
  ['id', 'now'],
  `select ${pendingColumns}
   from {ns}.oauth_authorizations a join {ns}.oauth_clients c on c.id = a.client_id
   where a.id = $1 and ${isPending('$2')}`,
).returning<PendingRow>()

export interface ClaimedRow extends PendingRow {
  /** What the user has granted to the client, for each resource of the request; null: nothing yet. */
  readonly granted_scopes: readonly (readonly string[] | null)[]
}

/** Binds the request to the first user who opens it. Returns no row for any other user. */
export const claimAuthorization = statement(
  'claim_oauth_authorization',
  ['id', 'userId', 'now'],
  `with a as (
     update {ns}.oauth_authorizations a set user_id = $2
     where a.id = $1 and ${isPending('$3')} and (a.user_id is null or a.user_id = $2)
     returning a.*
   )
   select ${pendingColumns}, (
     select jsonb_agg(k.scopes) from ${resourcesOf('a')} r(resource)
       left join {ns}.oauth_consents k
         on k.user_id = a.user_id and k.client_id = a.client_id and k.resource = r.resource
   ) as granted_scopes
   from a join {ns}.oauth_clients c on c.id = a.client_id`,
).returning<ClaimedRow>()

export interface Approval {
  readonly id: string
  readonly user_id: string
  /** SHA-256 of the code, in hexadecimal. */
  readonly code_hash: string
  readonly code_expires_at: Date
  readonly aal: string
  readonly amr: readonly Amr[]
  readonly auth_time: Date
  /** The session in which the user approves. Its end makes the code unusable. */
  readonly approved_in: string
  /** Null: the user consented earlier. */
  readonly audit: NewAuditEntry | null
  readonly now: Date
  readonly ip: string
}

/**
 * Issues the code of a request and remembers a new consent. Of two concurrent decisions, only the first
 * returns a row.
 */
export const approveAuthorization = statement(
  'approve_oauth_authorization',
  object<Approval>(),
  `with p as materialized (
     select * from jsonb_to_record($1::jsonb) as p(id text, user_id uuid, code_hash text,
       code_expires_at timestamptz, aal text, amr jsonb, auth_time timestamptz, approved_in uuid,
       audit jsonb, now timestamptz, ip text)
   ), a as (
     update {ns}.oauth_authorizations a set status = 'approved', code_hash = decode(p.code_hash, 'hex'),
       expires_at = p.code_expires_at, aal = p.aal, amr = p.amr, auth_time = p.auth_time,
       approved_in = p.approved_in
     from p where a.id = p.id and a.user_id = p.user_id and ${isPending('p.now')}
     returning a.*
   ), consented as (
     insert into {ns}.oauth_consents as k (user_id, client_id, resource, scopes, granted_at)
     select a.user_id, a.client_id, r.resource, to_jsonb(string_to_array(a.scope, ' ')), p.now
     from a cross join p cross join ${resourcesOf('a')} r(resource) where jsonb_typeof(p.audit) = 'object'
     on conflict (user_id, client_id, resource) do update set granted_at = excluded.granted_at,
       scopes = (select jsonb_agg(distinct s) from jsonb_array_elements(k.scopes || excluded.scopes) s)
   ), logged as (
     insert into {ns}.audit_log_entries (id, payload, ip_address, created_at)
     select e.id, e.payload, p.ip, p.now
     from a cross join p cross join jsonb_to_record(p.audit) as e(id uuid, payload jsonb)
     where jsonb_typeof(p.audit) = 'object'
   )
   select id from a`,
)

export const denyAuthorization = statement(
  'deny_oauth_authorization',
  ['id', 'userId', 'now'],
  `update {ns}.oauth_authorizations a set status = 'denied'
   where a.id = $1 and a.user_id is not distinct from $2 and ${isPending('$3')}
   returning a.id`,
)

export interface GrantRow extends Row {
  readonly client_id: string
  readonly metadata_url: string | null
  readonly client_name: string
  readonly client_uri: string
  readonly logo_uri: string
  readonly scopes: readonly string[]
  /** Without the empty text, which stands for requests without a resource. */
  readonly resources: readonly string[]
  readonly granted_at: Time
}

/** What a user has granted, one row for each client, newest first. */
export const listGrants = statement(
  'list_oauth_grants',
  ['userId'],
  `select c.id as client_id, c.metadata_url, c.client_name, c.client_uri, c.logo_uri, max(k.granted_at) as granted_at,
     (select jsonb_agg(distinct s.scope) from {ns}.oauth_consents own
       cross join jsonb_array_elements_text(own.scopes) as s(scope)
       where own.user_id = $1 and own.client_id = c.id) as scopes,
     coalesce(jsonb_agg(k.resource order by k.resource) filter (where k.resource <> ''), '[]')
       as resources
   from {ns}.oauth_consents k join {ns}.oauth_clients c on c.id = k.client_id
   where k.user_id = $1
   group by c.id
   order by granted_at desc, c.id`,
).returning<GrantRow>()

/**
 * Forgets the consent for a client, by its public identifier, ends the sessions of the client and makes its codes unusable. Returns no row if
 * the user has granted nothing to the client.
 */
export const revokeGrant = statement(
  'revoke_oauth_grant',
  ['userId', 'clientId', 'now', 'auditId', 'auditPayload', 'ip'],
  `with revoked as (
     delete from {ns}.oauth_consents k using {ns}.oauth_clients c
     where k.user_id = $1 and k.client_id = c.id
       and case when c.metadata_url is null then c.id::text else c.metadata_url end = $2
     returning k.client_id
   ), withdrawn as (
     delete from {ns}.oauth_authorizations a using (select distinct client_id from revoked) r
     where a.user_id = $1 and a.client_id = r.client_id
   ), ended as (
     update {ns}.sessions s set revoked_at = $3, updated_at = $3
     from (select distinct client_id from revoked) r
     where s.oauth_client_id = r.client_id and s.user_id = $1 and s.revoked_at is null
   ), logged as (
     insert into {ns}.audit_log_entries (id, payload, ip_address, created_at)
     select $4, $5, coalesce($6, ''), $3 from revoked limit 1
   )
   select client_id from revoked limit 1`,
)
