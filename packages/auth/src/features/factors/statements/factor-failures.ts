/** How many wrong codes are looked at. */
export interface SessionFailureLimits {
  /** In a row, of one factor in one session, after which none is looked at for a while. */
  readonly most_in_session: number
  readonly lock_seconds: number
}

export interface FactorFailureLimits {
  /** Of one factor in all sessions; null where nobody could hit a right answer by guessing. */
  readonly most_failures: number | null
  /** After which one of these is forgotten. */
  readonly refill_seconds: number
  /** Where the answer comes from; empty where that is not known. */
  readonly network: string
}

export const sessionFailureColumns = 'most_in_session integer, lock_seconds double precision'
export const factorFailureColumns =
  'most_failures double precision, refill_seconds double precision, network text'

const ofFactor = 's.factor_failures -> p.factor_id::text'
const failed = `coalesce((${ofFactor} ->> 'failed')::integer, 0)`
/** Of a session `s`; a lock that is over counts from the beginning. */
export const sessionLockedUntil = `(${ofFactor} ->> 'locked_until')::timestamptz`
const next = `(case when ${sessionLockedUntil} is null then ${failed} + 1 else 1 end)`

export const isSessionOpen = `coalesce(${sessionLockedUntil} <= p.now, true)`

/** One more wrong code in the session `s`. */
export const countInSession = `factor_failures = s.factor_failures || jsonb_build_object(
       p.factor_id::text, jsonb_build_object('failed', ${next}, 'locked_until',
         case when ${next} >= p.most_in_session
           then p.now + make_interval(secs => p.lock_seconds) end))`

/** Whether a right code of the factor `f` has come from there before. */
export const isKnownNetwork = "(p.network <> '' and p.network = any(f.used_from))"

/** How many wrong codes of a factor `f` count at this moment. */
export const failureLevel = `(case when ${isKnownNetwork} then ${toLevel('known')}
       else ${toLevel('unknown')} end)`

/** A clock that was set back forgets nothing. */
function toLevel(kind: 'known' | 'unknown'): string {
  const seconds = `greatest(0, extract(epoch from p.now - f.${kind}_failed_at))`
  const level = `f.${kind}_failures - ${seconds}::double precision / p.refill_seconds`
  return `coalesce(greatest(0, ${level}), 0)`
}

/** The factor `f` has so many wrong codes from now on; `k` has `is_known`. */
export function setFailureLevel(level: string): string {
  return `known_failures = case when k.is_known then ${level} else f.known_failures end,
       known_failed_at = case when k.is_known then p.now else f.known_failed_at end,
       unknown_failures = case when k.is_known then f.unknown_failures else ${level} end,
       unknown_failed_at = case when k.is_known then f.unknown_failed_at else p.now end`
}

/** The answer was right after all: it counted as a wrong one until now. */
export const forgetFailure = `known_failures = case when ${isKnownNetwork}
         then greatest(0, f.known_failures - 1) else f.known_failures end,
       unknown_failures = case when ${isKnownNetwork}
         then f.unknown_failures else greatest(0, f.unknown_failures - 1) end`

/** As many as people have places to sign in from. */
export const rememberNetwork = `used_from = case when p.network = '' then f.used_from
         else (array_prepend(p.network, array_remove(f.used_from, p.network)))[1:10] end`
