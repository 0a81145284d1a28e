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
  /** 0 makes it a dry run: counters are read but not changed. */
  readonly hits?: number
}

export interface DecisionAnswer {
  readonly code: 'OK' | 'OVER_LIMIT'
  /** One per descriptor, in the order of the request. */
  readonly statuses: readonly DecisionStatus[]
  readonly headers: readonly { readonly key: string; readonly value: string }[]
  readonly tookMs: number
  /** One per descriptor; undefined if no rule files are available. */
  readonly explanations: readonly ExplainedDescriptor[] | undefined
}

interface DecisionStatus {
  readonly code: 'OK' | 'OVER_LIMIT'
  /** Human-readable, such as `5 per minute`; undefined if no limit applies. */
  readonly limitText: string | undefined
  readonly remaining: number
  /** Undefined if no limit applies. */
  readonly resetSeconds: number | undefined
}

/** The proto3 JSON form, which omits zero and empty values. */
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

/** Requests a decision from the service and adds an explanation. @throws {ConsoleError} */
export async function requestDecision(
  { url, rulesDirectory }: RatelimitTarget,
  request: DecisionRequest,
): Promise<DecisionAnswer> {
  if (url === undefined) {
    const message =
      'The HTTP port of the rate limit service is not configured. Start the console with --ratelimit-url.'
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
      ? // At request level 0 means 1; at descriptor level it is a dry run.
        { domain, descriptors: descriptors.map((each) => ({ ...each, hitsAddend: 0 })) }
      : { domain, descriptors, hitsAddend: hits }
  const answer = await callUpstream(serviceName, `${url}/json`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await answer.text()
  if (answer.status === 200 || answer.status === 429) return JSON.parse(text)
  const excerpt = text.trim().slice(0, 200) || '(empty body)'
  const message = `${serviceName} responded with status ${answer.status}: ${excerpt}`
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

/** The protocol cannot express windows of several units, so they are taken from the rules. */
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
  // With an error in the files, the service keeps its previous rules, which are unknown here.
  if (findings.some(({ severity }) => severity === 'fault')) return undefined
  return explainEntries(rules, { domain, descriptors: descriptors.map(({ entries }) => entries) })
}
