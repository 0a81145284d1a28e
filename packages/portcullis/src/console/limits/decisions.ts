import {
  type Entry,
  type ExplainedDescriptor,
  explainEntries,
  toLimitText,
  unitByName,
} from '@portcullis/ratelimit/rules'
import { ConsoleError } from '../errors.ts'
import type { RatelimitTarget } from '../settings.ts'
import { callUpstream } from '../upstream.ts'
import { readDirectoryRules } from './rule-book.ts'
import { serviceName } from './statistics.ts'

export interface DecisionRequest {
  readonly domain: string
  readonly descriptors: readonly { readonly entries: readonly Entry[] }[]
  /** 0 only looks. */
  readonly hits?: number
}

export interface DecisionAnswer {
  readonly code: 'OK' | 'OVER_LIMIT'
  /** One per descriptor, in the order of the request. */
  readonly statuses: readonly DecisionStatus[]
  readonly headers: readonly { readonly key: string; readonly value: string }[]
  readonly tookMs: number
  /** One per descriptor; undefined where there are no rule files to explain it by. */
  readonly explanations: readonly ExplainedDescriptor[] | undefined
}

interface DecisionStatus {
  readonly code: 'OK' | 'OVER_LIMIT'
  /** `5 per minute`, for people; undefined where nothing is limited. */
  readonly limitText: string | undefined
  readonly remaining: number
  /** Undefined where there is no limit. */
  readonly resetSeconds: number | undefined
}

/** The proto3 JSON form, which leaves out what is 0 or empty. */
interface WireAnswer {
  readonly overallCode?: string
  readonly statuses?: readonly WireStatus[]
  readonly responseHeadersToAdd?: readonly { readonly key?: string; readonly value?: string }[]
}

interface WireStatus {
  readonly code?: string
  readonly currentLimit?: {
    readonly requestsPerUnit?: number
    readonly unit?: string
  }
  readonly limitRemaining?: number
  readonly durationUntilReset?: string
}

/** Asks the service, and explains what it says. @throws {ConsoleError} */
export async function askDecision(
  { url, rulesDirectory }: RatelimitTarget,
  request: DecisionRequest,
): Promise<DecisionAnswer> {
  if (url === undefined) {
    const message =
      'This console was not told where decisions are asked for: start it with --ratelimit-url.'
    throw new ConsoleError(409, 'no_decisions', message)
  }
  const startMs = performance.now()
  const { overallCode, statuses = [], responseHeadersToAdd = [] } = await call(url, request)
  const tookMs = performance.now() - startMs
  const explanations = await explain(rulesDirectory, request)
  return {
    code: toCode(overallCode),
    statuses: statuses.map((status, index) => toStatus(status, explanations?.[index])),
    headers: responseHeadersToAdd.map(({ key = '', value = '' }) => ({ key, value })),
    tookMs,
    explanations,
  }
}

async function call(url: string, request: DecisionRequest): Promise<WireAnswer> {
  const { domain, descriptors, hits = 1 } = request
  const body =
    hits === 0
      ? // Of the request as a whole 0 means 1; of a descriptor it means to look only.
        { domain, descriptors: descriptors.map((each) => ({ ...each, hitsAddend: 0 })) }
      : { domain, descriptors, hitsAddend: hits }
  const answer = await callUpstream(serviceName, `${url}/json`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await answer.text()
  if (answer.status === 200 || answer.status === 429) return JSON.parse(text)
  const said = text.trim().slice(0, 200) || 'nothing'
  const message = `${serviceName} answered ${answer.status} and said: ${said}`
  throw new ConsoleError(502, 'upstream_refused', message)
}

function toCode(code: string | undefined): 'OK' | 'OVER_LIMIT' {
  return code === 'OVER_LIMIT' ? 'OVER_LIMIT' : 'OK'
}

function toStatus(
  status: WireStatus,
  explanation: ExplainedDescriptor | undefined,
): DecisionStatus {
  const { code, currentLimit, limitRemaining = 0, durationUntilReset } = status
  return {
    code: toCode(code),
    limitText: toStatusLimitText(currentLimit, explanation),
    remaining: limitRemaining,
    resetSeconds:
      durationUntilReset === undefined ? undefined : Number.parseInt(durationUntilReset, 10),
  }
}

/** The protocol has no word for windows of several units, but the rules have. */
function toStatusLimitText(
  limit: WireStatus['currentLimit'],
  explanation: ExplainedDescriptor | undefined,
): string | undefined {
  if (limit === undefined) return undefined
  const { requestsPerUnit = 0, unit: name = '' } = limit
  const unit = unitByName(name)
  const met = explanation?.match?.limit
  const windowSeconds = (met?.unit?.name === name && met?.windowSeconds) || (unit?.seconds ?? 0)
  return toLimitText({ requestsPerUnit, unit, windowSeconds })
}

async function explain(
  directory: string | undefined,
  { domain, descriptors }: DecisionRequest,
): Promise<ExplainedDescriptor[] | undefined> {
  if (directory === undefined) return undefined
  const { rules, findings } = await readDirectoryRules(directory)
  // The service goes on with rules that we do not see.
  if (findings.some(({ severity }) => severity === 'fault')) return undefined
  return explainEntries(rules, { domain, descriptors: descriptors.map(({ entries }) => entries) })
}
