import type { Row } from '../../db/database.ts'
import { object, statement } from '../../db/statement.ts'
import type { ExternalProfile } from '../../plugins/providers/oauth/external-profile.ts'
import type { AuditPart } from '../audit/audit.ts'
import type { NewSession } from '../one-time-codes/statements/verify.ts'
import { type SessionRow, selectSession } from '../sessions/statements/sessions.ts'
import { selectUser, type Time } from '../users/statements/user-row.ts'

export interface FlowRow extends Row {
  readonly id: string
  readonly code_challenge: string
  readonly code_challenge_method: 's256' | 'plain'
  readonly authentication_method: string
  /** Empty if the flow began with a message. */
  readonly provider_type: string
  readonly provider_access_token: string | null
  readonly provider_refresh_token: string | null
  readonly auth_code_issued_at: Time
  readonly banned_until: Time | null
  readonly user_id: string
  readonly aud: string
  readonly referrer: string
  readonly linking_session_id: string | null
  /** The profile that the exchange links to the user; null for a sign-in. */
  readonly linking_profile: ExternalProfile | null
}

/** Finds a flow whose code has been issued. */
export const findFlow = statement(
  'find_flow',
  ['code'],
  `select f.id, f.code_challenge, f.code_challenge_method, f.authentication_method,
     f.provider_type, f.provider_access_token, f.provider_refresh_token, f.auth_code_issued_at,
     u.banned_until, f.user_id, f.aud, f.referrer, f.linking_session_id, f.linking_profile
   from {ns}.flow_states f join {ns}.users u on u.id = f.user_id
   where f.auth_code = $1 and f.auth_code_issued_at is not null and f.code_challenge is not null
     and u.deleted_at is null`,
).returning<FlowRow>()

export interface FlowExchange {
  readonly now: Date
  readonly ip: string
  readonly user_agent: string
  readonly flow_id: string
  readonly session: NewSession
  readonly audit_id: string
  readonly audit: AuditPart
}

/**
 * Uses up a flow and opens its session. Returns no row when a concurrent request used it. The user
 * is locked first, in the same order as in other statements.
 */
export const exchangeFlow = statement(
  'exchange_flow',
  object<FlowExchange>(),
  `with p as materialized (
     select * from jsonb_to_record($1::jsonb) as p(now timestamptz, ip text, user_agent text,
       flow_id uuid, session jsonb, audit_id uuid, audit jsonb)
   ), owner as materialized (
     select u.id from {ns}.flow_states f join {ns}.users u on u.id = f.user_id cross join p
     where f.id = p.flow_id
     for update of u
   ), used as (
     delete from {ns}.flow_states f using owner o cross join p
     where f.id = p.flow_id and f.user_id = o.id
     returning f.user_id, f.session_not_after,
       coalesce(nullif(f.provider_type, ''), f.authentication_method) as way
   ), opened as (
     insert into {ns}.sessions
       (id, user_id, amr, user_agent, ip, is_recovery, tag, not_after, created_at, updated_at)
     select (p.session ->> 'id')::uuid, used.user_id, p.session -> 'amr', p.user_agent, p.ip,
       (p.session ->> 'is_recovery')::boolean, p.session ->> 'tag', used.session_not_after, p.now,
       p.now
     from used cross join p
     returning *
   ), signed_in as (
     update {ns}.users u set last_sign_in_at = p.now, updated_at = p.now
     from used cross join p
     where u.id = used.user_id
     returning u.*
   ), logged as (
     insert into {ns}.audit_log_entries (id, payload, ip_address, created_at)
     select p.audit_id, p.audit || jsonb_build_object(
       'actor_id', u.id, 'actor_via_sso', u.is_sso_user,
       'actor_username', coalesce(u.phone, u.email, ''),
       'traits', jsonb_build_object('provider_type', used.way)), p.ip, p.now
     from signed_in u cross join used cross join p
   )
   select ${selectUser('u')}, ${selectSession('o')}
   from signed_in u cross join opened o`,
).returning<SessionRow>()
