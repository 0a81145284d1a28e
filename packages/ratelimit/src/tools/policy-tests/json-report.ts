import { toLimitText } from '../../rules/model/limit-text.ts'
import { toCodeText, toRuleText } from './expected-fields.ts'
import type { Failure, TestResult } from './run.ts'
import { toInstantText } from './times.ts'

/** The outcome of one test, for programs. */
export function toJsonResult({ test, requestCount, failure }: TestResult) {
  const { file, line, column } = test.place
  return {
    name: test.name,
    path: file,
    line,
    column,
    ok: failure === undefined,
    requests: requestCount,
    ...(failure && { failure: toJsonFailure(failure) }),
  }
}

function toJsonFailure(failure: Failure) {
  const { mismatches, nowMs, call, times, request, outcomes } = failure
  return {
    mismatches: mismatches.map(({ place: { line, column }, ...rest }) => ({
      line,
      column,
      ...rest,
    })),
    time: toInstantText(nowMs),
    call,
    times,
    domain: request.domain,
    descriptors: outcomes.map(({ descriptor, status, explanation }) => ({
      entries: descriptor.entries,
      code: toCodeText(status.code),
      remaining: status.limitRemaining,
      resetSeconds: status.resetSeconds,
      outcome: explanation.outcome,
      rule: toRuleText(explanation),
      place: explanation.match?.rule?.place,
      limit: explanation.match && toLimitText(explanation.match.limit),
      algorithm: explanation.match?.limit.algorithm,
      nearMisses: explanation.nearMisses,
    })),
  }
}
