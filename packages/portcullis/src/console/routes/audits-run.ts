import { randomUUID } from 'node:crypto'
import { renderAuditPage } from '@portcullis/graphql-over-http/audit-page'
import {
  type Audit,
  type AuditFail,
  type AuditRequest,
  type AuditResult,
  discardBodies,
  RateLimitedError,
  runAudits,
  serverAudits,
  toAuditReport,
} from '@portcullis/graphql-over-http/audits'
import { BodyTooLargeError, ConsoleError } from '../errors.ts'
import { callUpstream, toReason } from '../upstream.ts'
import type { AuditPlan, AuditProfile } from './audits-plan.ts'

export type AuditLevel = 'MUST' | 'SHOULD' | 'MAY'

/** How one audit ended. */
interface AuditOutcome {
  readonly status: AuditResult['status']
  readonly reason?: string
}

export interface AuditProgress {
  readonly state: 'running' | 'done' | 'stopped' | 'failed'
  /** Why it failed. */
  readonly message?: string
  /** By the id of the audit, as far as they have ended. */
  readonly outcomes: Readonly<Record<string, AuditOutcome>>
}

export interface AuditRunSummary {
  readonly id: string
  readonly url: string
  readonly profile: AuditProfile
  readonly extended: boolean
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  readonly state: AuditProgress['state']
}

/** Everything about a run. */
export interface AuditRunView extends AuditRunSummary, AuditProgress {
  readonly audits: readonly {
    readonly id: string
    readonly name: string
    readonly level: AuditLevel
  }[]
  /** By the id of the failed audit. */
  readonly exchanges: Readonly<Record<string, AuditExchange>>
}

export interface AuditRun {
  readonly id: string
  /** There once all audits have ended. */
  readonly report: { readonly html: string; readonly json: string } | undefined
  toSummary(): AuditRunSummary
  toProgress(): AuditProgress
  toView(): AuditRunView
  stop(): void
}

/** Enough to be quick, little enough not to be mistaken for an attack. */
const concurrency = 8
const answerTimeoutMs = 30_000
const limitedMessage =
  'The server limits requests. It answered 429, which says nothing about its GraphQL: send a header that ' +
  'lets you pass, or raise the limit, and run the audits again.'

/** Starts to audit a server that is known to answer. */
export function startAuditRun(plan: AuditPlan): AuditRun {
  const { url, profile, extended } = plan
  const id = randomUUID()
  const startedAt = Date.now()
  const stopped = new AbortController()
  // Each ends with the run, and none is led elsewhere: the headers are for this server only, and it has no
  // business with others that we can reach.
  const fetchInit = { redirect: 'manual', signal: stopped.signal } as const
  const audits = serverAudits({ ...plan, fetchInit })
  const outcomes: Record<string, AuditOutcome> = {}
  const exchanges: Record<string, AuditExchange> = {}
  let end: Pick<AuditProgress, 'state' | 'message'> = { state: 'running' }
  let report: AuditRun['report']

  async function run(): Promise<void> {
    const results = await runAudits(
      // The level is not enumerable, so a spread would lose it.
      audits.map((audit) => ({ ...audit, level: audit.level, fn: () => runOne(audit) })),
      { concurrency },
    )
    const page = await renderAuditPage(results, { url, profile, date: new Date(startedAt) })
    await discardBodies(results)
    const json = { url, profile, date: new Date(startedAt), ...toAuditReport(results) }
    report = { html: page, json: `${JSON.stringify(json, undefined, 2)}\n` }
    end = { state: 'done' }
  }

  function toFailure(error: unknown): string {
    return error instanceof RateLimitedError
      ? limitedMessage
      : `${url} stopped answering: ${toReason(error)}.`
  }

  async function runOne(audit: Audit): Promise<AuditResult> {
    stopped.signal.throwIfAborted()
    const result = await withinTime(audit.fn(), stopped.signal).catch((error: unknown) => {
      // One that gets no answer ends all of them.
      if (!stopped.signal.aborted) {
        end = { state: 'failed', message: toFailure(error) }
        stopped.abort()
      }
      throw error
    })
    if (result.status !== 'ok') exchanges[audit.id] = await toExchange(result)
    const { status } = result
    outcomes[audit.id] = status === 'ok' ? { status } : { status, reason: result.reason }
    return result
  }

  run().catch((error: unknown) => {
    if (end.state === 'failed') return
    if (stopped.signal.aborted) end = { state: 'stopped' }
    else end = { state: 'failed', message: `The report could not be made: ${toReason(error)}.` }
  })

  const toSummary = () => ({ id, url, profile, extended, startedAt, state: end.state })
  return {
    id,
    get report() {
      return report
    },
    toSummary,
    toProgress: () => ({ ...end, outcomes }),
    toView: () => ({
      ...toSummary(),
      ...end,
      audits: audits.map((audit) => ({ id: audit.id, name: audit.name, level: audit.level })),
      outcomes,
      exchanges,
    }),
    stop: () => stopped.abort(),
  }
}

async function withinTime<T>(work: Promise<T>, stopped: AbortSignal): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    late.reject(new Error(`nothing came within ${answerTimeoutMs / 1000} s`))
  }, answerTimeoutMs)
  const stop = () => late.reject(stopped.reason)
  stopped.addEventListener('abort', stop, { once: true })
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
    stopped.removeEventListener('abort', stop)
  }
}

/** The answer to the probe has a hundred bytes. */
const maxBytes = 1024 * 1024

/**
 * Sends the plainest of queries first, so that a wrong address is one sentence instead of dozens of failed
 * audits. @throws {ConsoleError} unless a GraphQL server answers.
 */
export async function probeServer({ url, headers }: AuditPlan): Promise<void> {
  const answer = await callUpstream('The server to audit', url, {
    method: 'POST',
    headers: {
      ...headers,
      'content-type': 'application/json',
      accept: 'application/graphql-response+json, application/json;q=0.9',
    },
    body: JSON.stringify({ query: '{ __typename }' }),
    maxBytes,
  })
  const text = await answer.text().catch((error: unknown) => {
    if (error instanceof BodyTooLargeError) return error
    return ''
  })
  const complaint =
    text instanceof Error
      ? `, and ${text.message}. Is this the address of a GraphQL server?`
      : findComplaint(answer, text)
  if (complaint === undefined) return
  const status = `${answer.status} ${answer.statusText}`.trim()
  throw new ConsoleError(502, 'not_graphql', `${url} answered ${status}${complaint}`)
}

/** The rest of the sentence; undefined when the answer is GraphQL. */
function findComplaint({ status, headers }: Response, text: string): string | undefined {
  if (status === 401 || status === 403) {
    return '. Send credentials as a header, such as Authorization: Bearer TOKEN.'
  }
  if (status === 404) return '. Is the path right? Many servers have GraphQL at /graphql.'
  if (status === 429) return '. It gets too many requests already: wait, and try again.'
  if (status >= 300 && status < 400) {
    return ` and leads to ${headers.get('location') ?? 'another address'}. Audit that one instead.`
  }
  if (isGraphql(text)) return undefined
  if (headers.get('content-type')?.includes('text/html')) {
    return ' with an HTML page instead of GraphQL. Is the path right?'
  }
  if (status >= 500) return ' and no GraphQL. Is the server healthy?'
  return ' and no GraphQL. Is this the address of a GraphQL server?'
}

function isGraphql(text: string): boolean {
  try {
    const result: unknown = JSON.parse(text)
    return typeof result === 'object' && result !== null && ('data' in result || 'errors' in result)
  } catch {
    return false
  }
}

/** What was sent and what came back, as text for people. */
export interface AuditExchange {
  readonly request: string
  readonly status: number
  readonly response: string
}

const shownCharacters = 4_000
const longestBytes = 65_536

/** Of a failed audit. Its response stays readable. */
async function toExchange({ request, response }: AuditFail): Promise<AuditExchange> {
  const { status, statusText } = response
  // A cookie may be somebody's session.
  const headers = [...response.headers].map(
    ([name, value]) => `${name}: ${name === 'set-cookie' ? '(left out)' : value}`,
  )
  const head = [`${status} ${statusText}`.trim(), ...headers].join('\n')
  const body = await readStart(response)
  return {
    request: toRequestText(request),
    status,
    response: body === '' ? head : `${head}\n\n${body}`,
  }
}

function toRequestText({ method, search, accept, contentType, body }: AuditRequest): string {
  const lines = [search ? `${method} ?${new URLSearchParams(search)}` : method]
  if (accept !== undefined) lines.push(`accept: ${accept}`)
  if (contentType !== undefined) lines.push(`content-type: ${contentType}`)
  return body === undefined ? lines.join('\n') : `${lines.join('\n')}\n\n${body}`
}

/** Some servers never end what they send. */
async function readStart(response: Response): Promise<string> {
  const reader = response.clone().body?.getReader()
  if (!reader) return ''
  const decoder = new TextDecoder()
  let text = ''
  try {
    for (let length = 0; length < longestBytes && text.length <= shownCharacters; ) {
      const { done, value } = await reader.read()
      if (done) break
      length += value.byteLength
      text += decoder.decode(value, { stream: true })
    }
  } catch {
    return '(the body could not be read)'
  }
  // Not awaited: a copy is only done being cancelled once the original is cancelled too.
  void reader.cancel().catch(() => undefined)
  return text.length > shownCharacters ? `${text.slice(0, shownCharacters)}…` : text
}
