import type { Row } from '../../../db/database.ts'
import { object, statement } from '../../../db/statement.ts'
import {
  type NewAuditEntry,
  noticeColumn,
  type WithNotices,
  writeNotices,
} from '../../../messages/statements/request-parts.ts'
import type { Metadata } from '../../../stored-json.ts'
import { logAction } from '../../audit/statements.ts'
import { type SessionRow, selectSession } from '../../sessions/statements/sessions.ts'
import { selectUserWithFactors, type Time } from '../../users/statements/user-row.ts'

/** Limits for wrong codes. */
export interface SessionFailureLimits {
  /** Consecutive failures for one factor in one session after which the factor is locked there. */
  readonly most_in_session: number
  readonly lock_seconds: number
}

interface FactorFailureLimits {
  /** Failures for one factor across all sessions; null when answers cannot be guessed. */
  readonly most_failures: number | null
  /** Time after which one failure is forgotten. */
  readonly refill_seconds: number
  /** The client's network; empty when it is unknown. */
  readonly network: string
}

export const sessionFailureColumns = 'most_in_session integer, lock_seconds double precision'

const factorFailureColumns =
  'most_failures double precision, refill_seconds double precision, network text'

const ofFactor = 's.factor_failures -> p.factor_id::text'

const failed = `coalesce((${ofFactor} ->> 'failed')::integer, 0)`

/** For a session `s`. After a lock has ended, counting starts again. */
export const sessionLockedUntil = `(${ofFactor} ->> 'locked_until')::timestamptz`

const next = `(case when ${sessionLockedUntil} is null then ${failed} + 1 else 1 end)`

export const isSessionOpen = `coalesce(${sessionLockedUntil} <= p.now, true)`

/** Counts a failure in the session `s`. */
export const countInSession = `factor_failures = s.factor_failures || jsonb_build_object(
       p.factor_id::text, jsonb_build_object('failed', ${next}, 'locked_until',
         case when ${next} >= p.most_in_session
           then p.now + make_interval(secs => p.lock_seconds) end))`

/** Whether a correct code for the factor `f` has come from this network before. */
const isKnownNetwork = "(p.network <> '' and p.network = any(f.used_from))"

/** The current number of failures for the factor `f`. */
const failureLevel = `(case when ${isKnownNetwork} then ${toLevel('known')}
       else ${toLevel('unknown')} end)`

/** If the clock was set back, no failures are forgotten. */
function toLevel(kind: 'known' | 'unknown'): string {
  const seconds = `greatest(0, extract(epoch from p.now - f.${kind}_failed_at))`
  const level = `f.${kind}_failures - ${seconds}::double precision / p.refill_seconds`
  return `coalesce(greatest(0, ${level}), 0)`
}

/** Sets the number of failures for the factor `f`; `k` has `is_known`. */
function setFailureLevel(level: string): string {
  return `known_failures = case when k.is_known then ${level} else f.known_failures end,
       known_failed_at = case when k.is_known then p.now else f.known_failed_at end,
       unknown_failures = case when k.is_known then f.unknown_failures else ${level} end,
       unknown_failed_at = case when k.is_known then f.unknown_failed_at else p.now end`
}

/** Takes back the failure that was counted before the answer was found to be correct. */
const forgetFailure = `known_failures = case when ${isKnownNetwork}
         then greatest(0, f.known_failures - 1) else f.known_failures end,
       unknown_failures = case when ${isKnownNetwork}
         then f.unknown_failures else greatest(0, f.unknown_failures - 1) end`

/** Remembers the last ten networks, which covers the places from which users sign in. */
const rememberNetwork = `used_from = case when p.network = '' then f.used_from
         else (array_prepend(p.network, array_remove(f.used_from, p.network)))[1:10] end`

export interface ChallengeTry extends SessionFailureLimits, FactorFailureLimits {
  readonly challenge_id: string
  readonly factor_id: string
  readonly user_id: string
  readonly session_id: string
  readonly most_attempts: number
  readonly ip: string
  readonly now: Date
  readonly audit: NewAuditEntry
}

/** A challenge in its state before this attempt. */
export interface TriedChallenge extends Row {
  /** Whether the answer may be checked. */
  readonly is_counted: boolean
  readonly ip_address: string
  readonly verified_at: Time | null
  readonly expires_at: Time
  readonly attempts: number
  readonly otp_hash: Buffer | null
  readonly web_authn_data: Metadata | null
  readonly secret: Buffer | null
  readonly last_used_step: number | null
  readonly web_authn_credential: Metadata | null
  readonly locked_until: Time | null
}

/**
 * Counts an attempt before the answer is checked, and as a failure until it is accepted. Concurrent
 * guesses wait for each other here. Returns no row when the challenge does not exist.
 */
export const tryChallenge = statement(
  'try_challenge',
  object<ChallengeTry>(),
  `with p as materialized (
     select * from jsonb_to_record($1::jsonb) as p(challenge_id uuid, factor_id uuid, user_id uuid,
       session_id uuid, most_attempts integer, ${sessionFailureColumns}, ${factorFailureColumns},
       ip text, now timestamptz, audit jsonb)
   ), session as materialized (
     -- Locks the session before the factor, as does every statement that locks both.
     select s.id, ${isSessionOpen} as is_open, ${sessionLockedUntil} as locked_until
     from {ns}.sessions s cross join p
     where s.id = p.session_id and s.user_id = p.user_id
     for update of s
   ), factor as materialized (
     select f.id, f.secret, f.last_used_step, f.web_authn_credential,
       ${isKnownNetwork} as is_known, ${failureLevel} as level
     from {ns}.mfa_factors f join session s on true cross join p
     where f.id = p.factor_id and f.user_id = p.user_id
     for update of f
   ), found as materialized (
     select c.*, f.secret, f.last_used_step, f.web_authn_credential, f.is_known, f.level,
       case when not s.is_open then s.locked_until
         when f.level + 1 > p.most_failures
         then p.now + make_interval(secs => (f.level + 1 - p.most_failures) * p.refill_seconds)
       end as locked_until
     from {ns}.mfa_challenges c join factor f on f.id = c.factor_id cross join session s
       cross join p
     where c.id = p.challenge_id
   ), allowed as materialized (
     select c.factor_id as id, c.is_known, c.level from found c cross join p
     where c.locked_until is null and c.verified_at is null and c.expires_at >= p.now
       and c.ip_address = p.ip and c.attempts < p.most_attempts
   ), counted_in_session as (
     update {ns}.sessions s set ${countInSession}
     from allowed cross join p
     where s.id = p.session_id
   ), counted as (
     update {ns}.mfa_factors f set ${setFailureLevel('k.level + 1')}
     from allowed k cross join p
     where f.id = k.id and p.most_failures is not null
   ), tried as (
     update {ns}.mfa_challenges c set attempts = c.attempts + 1
     from allowed f cross join p
     where c.id = p.challenge_id and c.factor_id = f.id and c.verified_at is null
       and c.attempts < p.most_attempts
     returning c.id
   ), ${logAction('allowed')}
   select exists (select from tried) as is_counted, f.ip_address, f.verified_at, f.expires_at,
     f.attempts, f.otp_hash, f.web_authn_data, f.secret, f.last_used_step, f.web_authn_credential,
     f.locked_until
   from found f`,
).returning<TriedChallenge>()

/** A session that is raised to aal2. */
export interface SessionRaise {
  readonly user_id: string
  readonly session_id: string
  /** The method in the `amr`. */
  readonly method: string
  readonly now: Date
  readonly ip: string
  readonly user_agent: string
  /** Logged on success. */
  readonly audit: NewAuditEntry
}

export const raiseColumns = `user_id uuid, session_id uuid, method text, now timestamptz, ip text,
       user_agent text, audit jsonb`

/**
 * The first parts of a `with` that raises a session. `owner` has a row if the session is still
 * valid. Sessions are locked before the user, in the same order as a token refresh, and factors
 * last.
 */
export const lockOwner = `lower as materialized (
     select s.id, s.factor_failures from {ns}.sessions s cross join p
     where s.user_id = p.user_id and s.revoked_at is null
       and (s.id = p.session_id or s.aal <> 'aal2')
     order by s.id for update of s
   ), owner as materialized (
     select u.* from {ns}.users u cross join p
     where u.id = p.user_id and u.deleted_at is null
       and (select count(*) filter (where l.id = p.session_id) from lower l) = 1
     for update of u
   )`

/**
 * The last parts, after `verified`, which has the row of the factor on success. The counter of a
 * session at aal1 advances by two, so that the previous refresh token cannot be used to obtain an
 * aal2 session. A session at aal2 keeps its refresh token: no other token would be safer, and a lost
 * response does no harm. The user's sessions below aal2 are revoked.
 */
export const raiseSession = `raised as (
     update {ns}.sessions s set aal = 'aal2', factor_id = v.id,
       amr = (select coalesce(jsonb_agg(e), '[]') from jsonb_array_elements(s.amr) e
           where e ->> 'method' <> p.method)
         || jsonb_build_array(jsonb_build_object(
           'method', p.method, 'timestamp', floor(extract(epoch from p.now))::bigint)),
       refresh_token_counter = s.refresh_token_counter + case s.aal when 'aal2' then 0 else 2 end,
       raised_from = case s.aal when 'aal2' then s.raised_from else s.refresh_token_counter end,
       rotated_at = p.now, refreshed_at = p.now, updated_at = p.now, user_agent = p.user_agent, ip = p.ip,
       factor_failures = '{}'
     from verified v cross join p
     where s.id = p.session_id
     returning s.*
   ), ended as (
     update {ns}.sessions s set revoked_at = p.now, updated_at = p.now
     from verified v cross join p cross join lower l
     where s.id = l.id and l.id <> p.session_id and s.aal <> 'aal2'
   ), dropped as (
     delete from {ns}.mfa_factors f using verified v
     where f.user_id = v.user_id and f.factor_type = v.factor_type and f.id <> v.id
       and f.status = 'unverified'
     returning f.id
   ), factors_now as (
     select * from verified union all
     select f.* from {ns}.mfa_factors f join verified v on v.user_id = f.user_id
     where f.id <> v.id and f.id not in (select id from dropped)
   ), ${logAction('verified')}`

export const raisedColumns = `${selectUserWithFactors('u', 'factors_now')},
     ${selectSession('s')}`

export interface Acceptance
  extends SessionRaise,
    WithNotices,
    Pick<FactorFailureLimits, 'network'> {
  readonly factor_id: string
  readonly challenge_id: string
  /** TOTP: each time step is accepted once. */
  readonly step: number | null
  /** WebAuthn: replaces the stored credential. */
  readonly credential: Metadata | null
  readonly aaguid: string | null
}

/**
 * Verifies the factor and raises the session after a correct answer. Returns a `SessionRow`, or no
 * row when the challenge, the code or the session has been used or has ended in the meantime.
 */
export const acceptFactor = statement(
  'accept_factor',
  object<Acceptance>(),
  `with p as materialized (
     select * from jsonb_to_record($1::jsonb) as p(factor_id uuid, challenge_id uuid, step bigint,
       credential jsonb, aaguid uuid, network text, ${noticeColumn}, ${raiseColumns})
   ), ${lockOwner}, factor as materialized (
     select f.id from {ns}.mfa_factors f join owner o on o.id = f.user_id cross join p
     where f.id = p.factor_id
       and (p.step is null or f.last_used_step is null or f.last_used_step < p.step)
     for update of f
   ), accepted as (
     update {ns}.mfa_challenges c set verified_at = p.now
     from factor f cross join p
     where c.id = p.challenge_id and c.factor_id = f.id and c.verified_at is null
     returning c.factor_id
   ), verified as (
     update {ns}.mfa_factors f set status = 'verified', ${forgetFailure}, ${rememberNetwork},
       last_used_step = coalesce(p.step, f.last_used_step),
       web_authn_credential = coalesce(nullif(p.credential, 'null'), f.web_authn_credential),
       web_authn_aaguid = coalesce(p.aaguid, f.web_authn_aaguid), updated_at = p.now
     from accepted a cross join p
     where f.id = a.factor_id
     returning f.*
   ), ${raiseSession}, ${writeNotices('raised cross join owner u cross join p')}
   select ${raisedColumns} from raised s cross join owner u`,
).returning<SessionRow>()
