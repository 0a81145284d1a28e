import type { Row } from '../../../db/database.ts'
import { object, statement } from '../../../db/statement.ts'
import {
  type NewAuditEntry,
  noticeColumn,
  type WithNotices,
  writeNotices,
} from '../../../messages/statements/request-parts.ts'
import { logAction } from '../../audit/statements.ts'
import type { Time } from '../../users/statements/user-row.ts'
import {
  countInSession,
  isSessionOpen,
  lockOwner,
  raiseColumns,
  raisedColumns,
  raiseSession,
  type SessionFailureLimits,
  type SessionRaise,
  sessionFailureColumns,
  sessionLockedUntil,
} from './verification.ts'

export interface NewRecoveryCodes extends WithNotices {
  readonly factor_id: string
  readonly user_id: string
  /** In hexadecimal. */
  readonly hashes: readonly string[]
  readonly now: Date
  readonly ip: string
  readonly audit: NewAuditEntry
}

const columns = `factor_id uuid, user_id uuid, hashes text[], now timestamptz, ip text,
       audit jsonb, ${noticeColumn}`

const writeCodes = (factor: string) => `codes_written as (
     insert into {ns}.mfa_recovery_codes (factor_id, code_hash)
     select f.id, decode(hash, 'hex') from ${factor} f cross join p cross join unnest(p.hashes) hash
   ), ${logAction(factor)}, ${writeNotices(`${factor} f join {ns}.users u on u.id = f.user_id cross join p`)}`

/**
 * Creates the only set of a user. A second set violates `mfa_factors_recovery`, a name that is
 * taken `mfa_factors_name`. Returns no row when the user has no other verified factor.
 */
export const createRecoveryCodes = statement(
  'create_recovery_codes',
  object<NewRecoveryCodes & { readonly friendly_name: string }>(),
  `with p as materialized (
     select * from jsonb_to_record($1::jsonb) as p(friendly_name text, ${columns})
   ), owner as materialized (
     select u.id from {ns}.users u cross join p where u.id = p.user_id for update of u
   ), created as (
     insert into {ns}.mfa_factors
       (id, user_id, factor_type, friendly_name, status, created_at, updated_at)
     select p.factor_id, o.id, 'recovery_code', p.friendly_name, 'verified', p.now, p.now
     from owner o cross join p
     where exists (select from {ns}.mfa_factors f where f.user_id = o.id
       and f.status = 'verified' and f.factor_type <> 'recovery_code')
     returning id, user_id
   ), ${writeCodes('created')}
   select id from created`,
)

/** Replaces all codes, used and unused. Returns no row when there is no set. */
export const replaceRecoveryCodes = statement(
  'replace_recovery_codes',
  object<NewRecoveryCodes>(),
  `with p as materialized (
     select * from jsonb_to_record($1::jsonb) as p(${columns})
   ), renewed as (
     update {ns}.mfa_factors f set updated_at = p.now
     from p where f.id = p.factor_id and f.user_id = p.user_id
     returning f.id, f.user_id
   ), cleared as (
     delete from {ns}.mfa_recovery_codes c using renewed f where c.factor_id = f.id
   ), ${writeCodes('renewed')}
   select id from renewed`,
)

interface CodeCount extends Row {
  readonly total: number
  readonly remaining: number
}

export const countRecoveryCodes = statement(
  'count_recovery_codes',
  ['factorId'],
  `select count(*)::integer as total,
     (count(*) filter (where used_at is null))::integer as remaining
   from {ns}.mfa_recovery_codes where factor_id = $1`,
).returning<CodeCount>()

export interface CodeTry extends SessionRaise, SessionFailureLimits {
  readonly factor_id: string
  /** In hexadecimal. */
  readonly code_hashes: readonly string[]
  /** Logged for each attempt; `audit` is logged only on success. */
  readonly attempt_audit: NewAuditEntry
}

/** Has the columns of a `SessionRow` if `session_id` is not null. */
export interface CodeVerdict extends Row {
  /** Set when the session was already locked, so that the code was not checked. */
  readonly locked_until: Time | null
  readonly session_id: string | null
}

/**
 * Uses a recovery code and raises the session, or counts a failed attempt. Returns no row when
 * there are no codes or the session has ended.
 */
export const useRecoveryCode = statement(
  'use_recovery_code',
  object<CodeTry>(),
  `with p as materialized (
     select * from jsonb_to_record($1::jsonb) as p(factor_id uuid, code_hashes text[],
       ${sessionFailureColumns}, attempt_audit jsonb, ${raiseColumns})
   ), ${lockOwner}, factor as materialized (
     -- A code of 79 bits cannot be guessed, so only the guessing session is locked.
     select f.id, case when not ${isSessionOpen} then ${sessionLockedUntil} end as locked_until
     from {ns}.mfa_factors f join owner o on o.id = f.user_id cross join p
       join lower s on s.id = p.session_id
     where f.id = p.factor_id and f.factor_type = 'recovery_code'
     for update of f
   ), used as (
     update {ns}.mfa_recovery_codes c set used_at = p.now
     from factor f cross join p
     where c.factor_id = f.id and f.locked_until is null and c.used_at is null
       and encode(c.code_hash, 'hex') = any(p.code_hashes)
     returning c.factor_id
   ), missed as (
     update {ns}.sessions s set ${countInSession}
     from factor f cross join p
     where s.id = p.session_id and f.locked_until is null and not exists (select from used)
   ), verified as (
     update {ns}.mfa_factors f set updated_at = p.now
     from used c cross join p
     where f.id = c.factor_id
     returning f.*
   ), attempt_logged as (
     insert into {ns}.audit_log_entries (id, payload, ip_address, created_at)
     select a.id, a.payload, p.ip, p.now
     from factor f cross join p cross join jsonb_to_record(p.attempt_audit) as a(
       id uuid, payload jsonb)
     where f.locked_until is null
   ), ${raiseSession}
   select f.locked_until, ${raisedColumns}
   from factor f join owner u on true left join raised s on true`,
).returning<CodeVerdict>()
