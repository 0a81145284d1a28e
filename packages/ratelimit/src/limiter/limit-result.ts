import type { DecisionParts } from '../decide/decision.ts'
import type { HeaderNames } from '../decide/headers.ts'
import { type Tally, unlimitedRemaining } from '../decide/tally.ts'
import { judgeInto, OverallVerdict } from '../decide/verdict.ts'
import { toResetSeconds } from '../decide/windows.ts'
import { unitByWire } from '../rules/model/rule.ts'
import type { LimitUnit } from './rules/limits.ts'
import type { MatchedRequest } from './rules/matched-request.ts'

/** Whether a request is allowed, and the state of its limits. */
export interface LimitResult {
  /** Whether the request is allowed. */
  readonly isAllowed: boolean
  /** Whether a rule applies to every descriptor or key. If false, check their names. */
  readonly isMatched: boolean
  /** Whether the store was unavailable and the decision was made with the counters of this process. */
  readonly isFallback: boolean
  /** One per descriptor, in their order; with limits that are objects, one per limit that applies. */
  readonly statuses: readonly LimitStatus[]
  /**
   * Name and value of the header fields about the most relevant limit, in a form that `new Headers()` accepts. It
   * is the limit that is exceeded, or else the one with the fewest remaining hits. Empty if no limit applies.
   */
  readonly headers: [name: string, value: string][]
  /** The seconds to wait before the next attempt, at least 1; undefined if the request is allowed. */
  readonly retryAfterSeconds: number | undefined
}

/** The state of one limit. */
export interface LimitStatus {
  /**
   * Whether the limit is exceeded. Always false in shadow mode. A limit in quota mode may be exceeded while the request
   * is allowed.
   */
  readonly isOver: boolean
  /** Whether a rule applies, even if it is unlimited. */
  readonly isMatched: boolean
  /** The keys that the limit counts by. */
  readonly keys: readonly string[]
  /** Undefined if no rule applies, or if the rule is unlimited. */
  readonly limit: AppliedLimit | undefined
  /** The number of remaining hits in the window. */
  readonly remaining: number
  /** The seconds until the window ends or has room again; undefined if there is no limit. */
  readonly resetSeconds: number | undefined
}

/** The limit that applies. */
export interface AppliedLimit {
  /** The number of hits that are allowed in a window. */
  readonly requestsPerUnit: number
  /** The unit of the window. */
  readonly unit: LimitUnit
  /** The length of the window: the unit, or several of them. */
  readonly windowSeconds: number
}

export interface ResultSettings {
  readonly headerNames: HeaderNames
}

export const defaultHeaderNames: HeaderNames = {
  limit: 'RateLimit-Limit',
  remaining: 'RateLimit-Remaining',
  reset: 'RateLimit-Reset',
}

/** Creates the result from the counts, and updates the statistics. */
export function toLimitResult(
  parts: DecisionParts,
  { headerNames }: ResultSettings,
  matched: MatchedRequest,
  nowSeconds: number,
  isFallback: boolean,
  /** Whether the counts include hits that were not stored. */
  isPeek = false,
): LimitResult {
  const { settings } = parts
  const { tallies } = matched
  const statuses: LimitStatus[] = []
  const verdict = new OverallVerdict(settings.isQuotaMode)
  let isMatched = true
  // The limit that the headers report, chosen as in headers.ts: the last one that is exceeded, or else the first
  // of those with the fewest remaining hits.
  let tightest: LimitStatus | undefined
  let least = unlimitedRemaining
  let retryAfter = 1
  for (let i = 0; i < tallies.length; i += 1) {
    const tally = tallies[i]
    const keys = matched.keys[i] ?? noKeys
    if (tally === undefined) {
      const status = toUncounted(keys, matched.isMatched[i] !== false, 0)
      isMatched &&= status.isMatched
      statuses.push(status)
      verdict.addPassedWithoutRule()
      continue
    }
    if (tally.isUnlimited) {
      statuses.push(toUncounted(keys, true, unlimitedRemaining))
      continue
    }
    const status = toStatus(parts, tally, keys, nowSeconds, verdict, isPeek)
    statuses.push(status)
    if (status.isOver) retryAfter = Math.max(retryAfter, status.resetSeconds ?? 1)
    const refuses = status.isOver && !tally.isQuota
    if (refuses || status.remaining < least) {
      tightest = status
      least = refuses ? 0 : status.remaining
    }
  }
  const isAllowed = !verdict.isRefusal || settings.isShadowMode
  if (verdict.isRefusal && settings.isShadowMode) parts.statistics.globalShadowMode.value += 1
  return {
    isAllowed,
    isMatched,
    isFallback,
    statuses,
    headers: tightest === undefined ? [] : toHeaders(tightest, headerNames),
    retryAfterSeconds: isAllowed ? undefined : retryAfter,
  }
}

const noKeys: readonly string[] = []

function toUncounted(keys: readonly string[], isMatched: boolean, remaining: number): LimitStatus {
  return { isOver: false, isMatched, keys, limit: undefined, remaining, resetSeconds: undefined }
}

function toStatus(
  parts: DecisionParts,
  tally: Tally,
  keys: readonly string[],
  nowSeconds: number,
  verdict: OverallVerdict,
  isPeek: boolean,
): LimitStatus {
  const { unitSeconds, requestsPerUnit } = tally
  const isOver = judgeInto(verdict, parts, tally, nowSeconds)
  const isShadow = tally.isShadowRule || parts.settings.isShadowMode
  return {
    isOver: isOver && !isShadow,
    isMatched: true,
    keys,
    limit: { requestsPerUnit, unit: unitName(tally.unit), windowSeconds: unitSeconds },
    remaining: Math.max(0, requestsPerUnit - tally.after + (isPeek ? tally.charge : 0)),
    resetSeconds: toResetSeconds(tally, isOver, nowSeconds),
  }
}

const unitNames: LimitUnit[] = []

function unitName(wire: number): LimitUnit {
  const known = unitNames[wire]
  if (known !== undefined) return known
  const name = (unitByWire(wire)?.name ?? 'SECOND').toLowerCase() as LimitUnit
  unitNames[wire] = name
  return name
}

export function toHeaders(
  { limit, remaining, resetSeconds }: LimitStatus,
  names: HeaderNames,
): LimitResult['headers'] {
  return [
    [names.limit, `${limit?.requestsPerUnit ?? 0}`],
    [names.remaining, `${remaining}`],
    [names.reset, `${resetSeconds ?? 0}`],
  ]
}
