import type { Log } from '@portcullis/service-kit/log/log'
import type { Decide, Decider } from '../decide/decide.ts'
import type { Rules } from '../decide/decision.ts'
import { decodeRequest } from '../protocol/decode.ts'
import { encodeResponse } from '../protocol/encode.ts'
import type { Descriptor, RateLimitRequest, RateLimitResponse } from '../protocol/message.ts'
import { toResponseText } from '../protocol/response-text.ts'

export interface LoggedDeciderParts {
  readonly rules: () => Rules | undefined
  readonly log: Log
}

/**
 * Logs every request, the limits that apply to it and the response, in the wording of envoyproxy/ratelimit,
 * which operators search their logs for. It is meant for LOG_LEVEL=debug: encoded requests are
 * decoded without the request cache, and every descriptor is matched a second time.
 */
export function logDecider({ decide }: Decider, { rules, log }: LoggedDeciderParts): Decider {
  const decideAndLog: Decide = (request, deadlineMs, decided) => {
    const current = rules()
    if (current !== undefined && request.domain !== '') logLimits(request, current, log)
    decide(request, deadlineMs, (error, response) => {
      if (error !== undefined) log.debug(`caught error during call: ${error.message}`)
      if (response !== undefined) log.debug(`returning normal response: ${toText(response)}`)
      decided(error, response)
    })
  }
  return {
    decide: decideAndLog,
    decideEncoded(buffer, start, end, deadlineMs, decided) {
      decideAndLog(decodeRequest(buffer, start, end), deadlineMs, decided)
    },
  }
}

function logLimits({ domain, descriptors }: RateLimitRequest, rules: Rules, log: Log): void {
  if (!rules.hasDomain(domain)) log.debug(`unknown domain '${domain}'`)
  for (const descriptor of descriptors) {
    const entries = descriptor.entries.map(({ key, value }) => `(${key}=${value})`)
    log.debug(`got descriptor: ${entries.join(',')}`)
    log.debug(describeLimit(rules, domain, descriptor))
  }
}

function describeLimit(rules: Rules, domain: string, descriptor: Descriptor): string {
  const match = rules.hasDomain(domain) ? rules.match(domain, descriptor) : undefined
  if (match === undefined) return 'descriptor does not match any limit, no limits applied'
  const { requestsPerUnit, unit, shadowMode } = match.limit
  if (unit === undefined) return 'descriptor is unlimited, not passing to the cache'
  return `applying limit: ${requestsPerUnit} requests per ${unit.name}, shadow_mode: ${shadowMode}`
}

function toText(response: RateLimitResponse): string {
  const { buffer, length } = encodeResponse(response)
  return toResponseText(buffer.subarray(0, length))
}
