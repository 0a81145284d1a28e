import type { DecisionParts } from '../decide/decision.ts'
import type { HeaderNames } from '../decide/headers.ts'
import type { Tally } from '../decide/tally.ts'
import { judgeInto, OverallVerdict } from '../decide/verdict.ts'
import { toResetSeconds } from '../decide/windows.ts'
import { unitByWire } from '../rules/model/rule.ts'
import type { Asked } from './asked.ts'
import type { LimitUnit } from './limits.ts'

/** Whether a request is allowed, and how its limits stand. */
export interface LimitResult {
  /** Whether the request is allowed. */
  readonly isAllowed: boolean
  /** Whether a rule applies to every descriptor or key that was given. False: check their names. */
  readonly isMatched: boolean
  /** Whether the store did not answer and the decision was made with the counters of this process. */
  readonly isFallback: boolean
  /** One per descriptor in their order, or one per limit that applies where limits are objects. */
  readonly statuses: readonly LimitStatus[]
  /**
   * Name and value of the header fields about the limit that matters most, in a form that `new Headers()`
   * takes. Empty where no limit applies.
   */
  readonly headers: [name: string, value: string][]
  /** When to try again, from 1; undefined where the request is allowed. */
  readonly retryAfterSeconds: number | undefined
}

/** How one limit stands. */
export interface LimitStatus {
  /** Whether the limit is reached and refuses the request. Never in shadow mode. */
  readonly isOver: boolean
  /** Whether a rule applies, even if only to say that there is no limit. */
  readonly isMatched: boolean
  /** The keys that it counts by. */
  readonly keys: readonly string[]
  /** Undefined where no rule applies, or one without a limit. */
  readonly limit: AppliedLimit | undefined
  /** How many hits are left in the window. */
  readonly remaining: number
  /** When the window ends, or has room again; undefined where there is no limit. */
  readonly resetSeconds: number | undefined
}

/** The limit that applies. */
export interface AppliedLimit {
  /** How many hits are allowed in a window. */
  readonly requestsPerUnit: number
  /** The unit of the window. */
  readonly unit: LimitUnit
  /** The length of the window: the unit, or several of them. */
  readonly windowSeconds: number
}

/** The settings of results. */
export interface ResultSettings {
  readonly headerNames: HeaderNames
}

const unlimitedRemaining = 4_294_967_295

/** From the counts to the result, with the statistics that follow from them. */
export function toLimitResult(
  parts: DecisionParts,
  { headerNames }: ResultSettings,
  asked: Asked,
  nowSeconds: number,
  isFallback: boolean,
  /** Whether the counts have hits in them that were not counted. */
  isPeek = false,
): LimitResult {
  const { settings } = parts
  const { tallies } = asked
  const statuses: LimitStatus[] = []
  const verdict = new OverallVerdict(settings.isQuotaMode)
  let isMatched = true
  // The limit that the headers are about: the last one that is over, or else the first of those with the
  // least remaining, as in headers.ts.
  let tightest: LimitStatus | undefined
  let least = unlimitedRemaining
  let retryAfter = 1
  for (let i = 0; i < tallies.length; i += 1) {
    const tally = tallies[i]
    const keys = asked.keys[i] ?? noKeys
    if (tally === undefined) {
      const status = toUncounted(keys, asked.isMatched[i] !== false, 0)
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
