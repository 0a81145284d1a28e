import type { Row } from '../../../db/database.ts'
import { object, statement } from '../../../db/statement.ts'
import { spendCap } from '../../../messages/statements/message-caps.ts'
import { insertMessage } from '../../../messages/statements/outbox.ts'
import {
  type NewAuditEntry,
  type NewMessage,
  noticeColumn,
  type WithNotices,
  writeNotices,
} from '../../../messages/statements/request-parts.ts'
import type { Metadata } from '../../../stored-json.ts'
import { logAction } from '../../audit/statements.ts'
import type { FactorRow, Time } from '../../users/statements/user-row.ts'

export interface NewFactor {
  readonly id: string
  readonly user_id: string
  readonly factor_type: string
  readonly friendly_name: string
  /** Encrypted, in hexadecimal. */
  readonly secret: string | null
  readonly phone: string | null
  /** Unverified factors that were created or last challenged before this time are deleted. */
  readonly expired_before: Date
  readonly now: Date
  readonly ip: string
  readonly audit: NewAuditEntry
}

/**
 * Inserts an unverified factor. Deletes other unverified factors of the user that have expired or
 * have the same phone number. Returns no row when the user does not exist. A name that is taken
 * violates `mfa_factors_name`, a phone number that is taken `mfa_factors_phone`.
 */
export const enrollFactor = statement(
  'enroll_factor',
  object<NewFactor>(),
  `with p as materialized (
     select * from jsonb_to_record($1::jsonb) as p(id uuid, user_id uuid, factor_type text,
       friendly_name text, secret text, phone text, expired_before timestamptz, now timestamptz,
       ip text, audit jsonb)
   ), owner as materialized (
     select u.id from {ns}.users u cross join p
     where u.id = p.user_id and u.deleted_at is null for update of u
   ), expired as (
     delete from {ns}.mfa_factors f using owner o cross join p
     where f.user_id = o.id and f.status = 'unverified'
       and (coalesce(f.last_challenged_at, f.created_at) < p.expired_before or f.phone = p.phone)
     returning 1
   ), enrolled as (
     insert into {ns}.mfa_factors
       (id, user_id, factor_type, friendly_name, secret, phone, created_at, updated_at)
     select p.id, o.id, p.factor_type, p.friendly_name, decode(p.secret, 'hex'), p.phone, p.now,
       p.now
     from owner o cross join p
     -- The names of deleted factors must be free before the insert.
     where (select count(*) from expired) >= 0
     returning id
   ), ${logAction('enrolled')}
   select id from enrolled`,
)

export interface NewChallenge {
  readonly id: string
  readonly factor_id: string
  readonly user_id: string
  /** In hexadecimal. */
  readonly otp_hash: string | null
  readonly web_authn_data: Metadata | null
  readonly expires_at: Date
  /** Minimum interval since the previous challenge; null when there is none. */
  readonly gap_seconds: number | null
  readonly messages: readonly NewMessage[]
  /** From AUTH_RATE_LIMIT_SMS_SENT. */
  readonly cap_most: number | null
  readonly cap_refill_ms: number | null
  readonly now: Date
  readonly ip: string
  readonly audit: NewAuditEntry
}

/**
 * Returns no row and writes nothing when the factor does not exist, the previous challenge is too
 * recent, or the message limit is reached.
 */
export const challengeFactor = statement(
  'challenge_factor',
  object<NewChallenge>(),
  `with p as materialized (
     select * from jsonb_to_record($1::jsonb) as p(id uuid, factor_id uuid, user_id uuid,
       otp_hash text, web_authn_data jsonb, expires_at timestamptz, gap_seconds double precision,
       messages jsonb, cap_most integer, cap_refill_ms double precision, now timestamptz, ip text,
       audit jsonb)
   ), due as materialized (
     select f.id from {ns}.mfa_factors f cross join p
     where f.id = p.factor_id and f.user_id = p.user_id
       and (nullif(p.gap_seconds, 0) is null or f.last_challenged_at is null
         or f.last_challenged_at <= p.now - make_interval(secs => p.gap_seconds))
     for update of f
   ), ${spendCap('sms', {
     most: 'select case when jsonb_array_length(messages) > 0 then cap_most end from p',
     refillMs: 'select cap_refill_ms from p',
     count:
       'select case when exists (select from due) then jsonb_array_length(messages) else 0 end from p',
     now: 'select now from p',
   })}, challenged as (
     update {ns}.mfa_factors f set last_challenged_at = p.now
     from due cross join p cross join cap
     where f.id = due.id
     returning f.id
   ), written as (
     insert into {ns}.mfa_challenges
       (id, factor_id, ip_address, otp_hash, web_authn_data, expires_at, created_at)
     select p.id, c.id, p.ip, decode(p.otp_hash, 'hex'), p.web_authn_data, p.expires_at, p.now
     from challenged c cross join p
   ), messages_written as (
     ${insertMessage('sms', {
       kind: 'm.kind',
       recipient: 'm.recipient',
       payload: `m.payload || jsonb_build_object('UserID', p.user_id, 'IP', p.ip)`,
       expiresInSeconds: 'm.expires_in_seconds',
       from: `challenged cross join p cross join jsonb_to_recordset(p.messages) as m(kind text,
         recipient text, payload jsonb, expires_in_seconds double precision)`,
     })}
   ), ${logAction('challenged')}
   select id from challenged`,
)

interface FactorSecrets extends Row {
  readonly id: string
  readonly secret: Buffer | null
  readonly last_used_step: number | null
  readonly web_authn_credential: Metadata | null
  readonly last_challenged_at: Time | null
}

/** The columns that are not part of the user record. */
export const findFactorSecrets = statement(
  'find_factor_secrets',
  ['id', 'userId'],
  `select f.id, f.secret, f.last_used_step, f.web_authn_credential, f.last_challenged_at
   from {ns}.mfa_factors f where f.id = $1 and f.user_id = $2`,
).returning<FactorSecrets>()

export interface FactorUpdate {
  readonly factor_id: string
  readonly user_id: string
  /** Null values leave the column unchanged. */
  readonly friendly_name: string | null
  readonly phone: string | null
  readonly now: Date
  readonly ip: string
  readonly audit: NewAuditEntry
}

/**
 * The same constraint violations as `enrollFactor`. Returns no row when the factor does not exist.
 */
export const updateFactor = statement(
  'update_factor',
  object<FactorUpdate>(),
  `with p as materialized (
     select * from jsonb_to_record($1::jsonb) as p(factor_id uuid, user_id uuid,
       friendly_name text, phone text, now timestamptz, ip text, audit jsonb)
   ), updated as (
     update {ns}.mfa_factors f set friendly_name = coalesce(p.friendly_name, f.friendly_name),
       phone = coalesce(p.phone, f.phone), updated_at = p.now
     from p where f.id = p.factor_id and f.user_id = p.user_id
     returning f.*
   ), ${logAction('updated')}
   select id, factor_type, friendly_name, status, phone, web_authn_aaguid, last_challenged_at,
     created_at, updated_at
   from updated`,
).returning<FactorRow>()

interface FactorCredential extends Row {
  readonly web_authn_credential: Metadata
}

/** The credentials of a user's WebAuthn factors. */
export const listFactorCredentials = statement(
  'list_factor_credentials',
  ['userId'],
  `select web_authn_credential from {ns}.mfa_factors
   where user_id = $1 and factor_type = 'webauthn' and web_authn_credential is not null
   order by created_at, id`,
).returning<FactorCredential>()

export interface FactorRemoval extends WithNotices {
  readonly factor_id: string
  readonly user_id: string
  /** The `amr` methods by factor type. */
  readonly methods: Readonly<Record<string, string>>
  readonly now: Date
  readonly ip: string
  readonly audit: NewAuditEntry
}

/**
 * Removes a factor, and with the last one also the recovery codes, which are never the only factor.
 * Sessions that were verified with it drop to aal1. Returns the removed factor, or no row when it
 * does not exist.
 */
export const removeFactor = statement(
  'remove_factor',
  object<FactorRemoval>(),
  `with p as materialized (
     select * from jsonb_to_record($1::jsonb) as p(factor_id uuid, user_id uuid, methods jsonb,
       now timestamptz, ip text, audit jsonb, ${noticeColumn})
   ), lowered as materialized (
     -- Locks sessions before the user, in the same order as a token refresh, to avoid deadlocks.
     select s.id, s.factor_id from {ns}.sessions s cross join p
     where s.user_id = p.user_id and s.factor_id is not null
     order by s.id for update of s
   ), owner as materialized (
     select u.* from {ns}.users u cross join p
     where u.id = p.user_id and (select count(*) from lowered) >= 0
     for update of u
   ), gone as (
     delete from {ns}.mfa_factors f using owner o cross join p
     where f.id = p.factor_id and f.user_id = o.id
     returning f.*
   ), left_over as materialized (
     select f.factor_type from {ns}.mfa_factors f join gone g on g.user_id = f.user_id
     where f.id <> g.id and f.status = 'verified'
   ), codes_gone as (
     delete from {ns}.mfa_factors f using gone g
     where f.user_id = g.user_id and f.factor_type = 'recovery_code' and f.id <> g.id
       and g.status = 'verified'
       and not exists (select from left_over l where l.factor_type <> 'recovery_code')
     returning f.*
   ), removed as materialized (
     select id, factor_type from gone union all select id, factor_type from codes_gone
   ), orphans as materialized (
     -- The amr methods of the removed factors that no remaining factor shares.
     select array(
       select p.methods ->> r.factor_type from removed r
       where r.factor_type not in (select l.factor_type from left_over l)
     ) as methods, array(select value from jsonb_each_text(p.methods)) as every
     from gone g cross join p where g.status = 'verified'
   ), dropped as (
     -- The level of a session depends on the factor in factor_id.
     update {ns}.sessions s set
       aal = case when l.factor_id in (select id from removed) then 'aal1' else s.aal end,
       factor_id = case when l.factor_id in (select id from removed) then null else s.factor_id end,
       amr = (select coalesce(jsonb_agg(e), '[]') from jsonb_array_elements(s.amr) e
         where not e ->> 'method' = any(
           case when l.factor_id in (select id from removed) then o.every else o.methods end)),
       updated_at = p.now
     from lowered l cross join p cross join orphans o
     where s.id = l.id
   ), ${logAction('gone')}, ${writeNotices('gone cross join owner u cross join p')}
   select id, factor_type, friendly_name, status, phone, web_authn_aaguid, last_challenged_at,
     created_at, updated_at
   from gone`,
).returning<FactorRow>()
