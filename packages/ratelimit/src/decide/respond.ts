import {
  type DescriptorStatus,
  OK,
  OVER_LIMIT,
  type RateLimitResponse,
} from '../protocol/message.ts'
import type { Decision, DecisionParts } from './decision.ts'
import { toDynamicMetadata } from './dynamic-metadata.ts'
import { toHeaders } from './headers.ts'
import { OverallVerdict } from './overall-verdict.ts'
import { secondsUntilRoom } from './sliding-reset.ts'
import type { Tally } from './tally.ts'
import { judge } from './verdict.ts'
import { secondsUntilReset } from './windows.ts'

const noRule: DescriptorStatus = {
  code: OK,
  currentLimit: undefined,
  limitRemaining: 0,
  resetSeconds: undefined,
}
const unlimited: DescriptorStatus = { ...noRule, limitRemaining: 4_294_967_295 }

/** From the counts to the answer, with the statistics that follow from it. */
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
  { settings, localCache }: DecisionParts,
  { nowSeconds }: Decision,
  tally: Tally,
  verdict: OverallVerdict,
): DescriptorStatus {
  const { after, unitSeconds, requestsPerUnit, isShadowRule } = tally
  const isShadow = isShadowRule || settings.isShadowMode
  const isOver = judge(tally, settings.nearLimitRatio, isShadow)
  if (isOver && !tally.isKnownOver && !tally.isSliding && localCache !== undefined) {
    localCache.add(tally.key, tally.window, unitSeconds, requestsPerUnit, nowSeconds)
  }
  verdict.add(isOver && !isShadowRule, tally.isQuota)
  return {
    code: isOver && !isShadow ? OVER_LIMIT : OK,
    currentLimit: { requestsPerUnit, unit: tally.unit, name: tally.name },
    limitRemaining: isOver ? 0 : requestsPerUnit - after,
    resetSeconds:
      isOver && tally.isSliding
        ? secondsUntilRoom(tally)
        : secondsUntilReset(nowSeconds, unitSeconds),
  }
}

/** Metadata is returned of rules that have a limit and let the request pass. */
function passedMetadata(statuses: readonly DescriptorStatus[]) {
  return (tally: Tally | undefined, index: number) =>
    tally === undefined || tally.isUnlimited || statuses[index]?.code !== OK
      ? undefined
      : tally.metadata
}
