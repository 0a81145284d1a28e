import type { Row } from '../../../db/database.ts'
import { statement } from '../../../db/statement.ts'
import type { Time } from '../../users/statements/user-row.ts'

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
