import {
  type Descriptor,
  type DescriptorStatus,
  type Json,
  type JsonObject,
  OK,
  OVER_LIMIT,
  type RateLimitRequest,
  type RateLimitResponse,
  toOverrideText,
} from '../protocol/message.ts'
import type { Decision, DecisionParts } from './decision.ts'
import { toHeaders } from './headers.ts'
import { type Tally, unlimitedRemaining } from './tally.ts'
import { judgeInto, OverallVerdict } from './verdict.ts'
import { toResetSeconds } from './windows.ts'

const noRule: DescriptorStatus = {
  code: OK,
  currentLimit: undefined,
  limitRemaining: 0,
  resetSeconds: undefined,
}
const unlimited: DescriptorStatus = { ...noRule, limitRemaining: unlimitedRemaining }

/** Creates the response from the counts, and updates the statistics. */
export function toResponse(parts: DecisionParts, decision: Decision): RateLimitResponse {
  const { settings, statistics } = parts
  const { request, tallies } = decision
  const statuses: DescriptorStatus[] = []
  const verdict = new OverallVerdict(settings.isQuotaMode)
  for (let i = 0; i < tallies.length; i += 1) {
    const tally = tallies[i]
    if (tally === undefined) {
      statuses.push(noRule)
      verdict.addPassedWithoutRule()
    } else {
      statuses.push(tally.isUnlimited ? unlimited : toStatus(parts, decision, tally, verdict))
    }
  }

  let overallCode: RateLimitResponse['overallCode'] = OK
  if (verdict.isRefusal) {
    if (settings.isShadowMode) statistics.globalShadowMode.value += 1
    else overallCode = OVER_LIMIT
  }
  return {
    overallCode,
    statuses,
    responseHeadersToAdd:
      settings.headerNames === undefined
        ? []
        : toHeaders(statuses, settings.headerNames, (index) => tallies[index]?.isQuota === true),
    dynamicMetadata:
      settings.addsDynamicMetadata && request !== undefined
        ? toDynamicMetadata(request, tallies.map(passedMetadata(statuses)))
        : undefined,
  }
}

function toStatus(
  parts: DecisionParts,
  { nowSeconds }: Decision,
  tally: Tally,
  verdict: OverallVerdict,
): DescriptorStatus {
  const { requestsPerUnit } = tally
  const isOver = judgeInto(verdict, parts, tally, nowSeconds)
  const isShadow = tally.isShadowRule || parts.settings.isShadowMode
  return {
    code: isOver && !isShadow ? OVER_LIMIT : OK,
    currentLimit: { requestsPerUnit, unit: tally.unit, name: tally.name },
    limitRemaining: isOver ? 0 : requestsPerUnit - tally.after,
    resetSeconds: toResetSeconds(tally, isOver, nowSeconds),
  }
}

/** Returns the metadata of rules that have a limit and allow the request. */
function passedMetadata(statuses: readonly DescriptorStatus[]) {
  return (tally: Tally | undefined, index: number) =>
    tally === undefined || tally.isUnlimited || statuses[index]?.code !== OK
      ? undefined
      : tally.metadata
}

/** The request and the metadata of the rules that allow it, for other filters of the proxy. */
export function toDynamicMetadata(
  { domain, descriptors, hitsAddend }: RateLimitRequest,
  passedMetadata: readonly (JsonObject | undefined)[],
): JsonObject {
  const metadata = passedMetadata.reduce<JsonObject | undefined>(
    (merged, next) => (merged && next ? mergeMetadata(merged, next) : (merged ?? next)),
    undefined,
  )
  return {
    domain,
    descriptors: descriptors.map(describe),
    ...(hitsAddend === 0 ? {} : { hitsAddend }),
    ...(metadata === undefined || Object.keys(metadata).length === 0 ? {} : { metadata }),
  }
}

function describe({ entries, limit, hitsAddend }: Descriptor): JsonObject {
  return {
    entries: entries.map(({ key, value }) => `${key}=${value}`),
    ...(limit === undefined ? {} : { limit: toOverrideText(limit) }),
    ...(hitsAddend === undefined ? {} : { hitsAddend }),
  }
}

/** The first value wins. Maps are merged, lists are not. */
export function mergeMetadata(first: JsonObject, second: JsonObject): JsonObject {
  const merged = new Map<string, Json>(Object.entries(first))
  for (const [name, value] of Object.entries(second)) {
    const known = merged.get(name)
    if (known === undefined) merged.set(name, value)
    else if (isObject(known) && isObject(value)) merged.set(name, mergeMetadata(known, value))
  }
  return Object.fromEntries(merged)
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
