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
import { callUpstream, toFetchReason } from '../upstream.ts'
import type { AuditPlan, AuditProfile } from './audits-plan.ts'

export type AuditLevel = 'MUST' | 'SHOULD' | 'MAY'

/** The result of one audit. */
interface AuditOutcome {
  readonly status: AuditResult['status']
  readonly reason?: string
}

export interface AuditProgress {
  readonly state: 'running' | 'done' | 'stopped' | 'failed'
  /** Why it failed. */
  readonly message?: string
  /** The results so far, by audit id. */
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

export interface AuditRunView extends AuditRunSummary, AuditProgress {
  readonly audits: readonly {
    readonly id: string
    readonly name: string
    readonly level: AuditLevel
  }[]
  /** The requests and responses of failed audits, by audit id. */
  readonly exchanges: Readonly<Record<string, AuditExchange>>
}

export interface AuditRun {
  readonly id: string
  /** Available once all audits have finished. */
  readonly report: { readonly html: string; readonly json: string } | undefined
  toSummary(): AuditRunSummary
  toProgress(): AuditProgress
  toView(): AuditRunView
  stop(): void
}

/** High enough to be quick, low enough not to look like an attack. */
const concurrency = 8
const answerTimeoutMs = 30_000
const limitedMessage =
  'The server limits the request rate (status 429), so the audits cannot be completed. Send a header that ' +
  'exempts you from the limit, or raise the limit, and run the audits again.'

/** Starts the audits of a server that has responded to the probe. */
export function startAuditRun(plan: AuditPlan): AuditRun {
  const { url, profile, extended } = plan
  const id = randomUUID()
  const startedAt = Date.now()
  const stopped = new AbortController()
  // Redirects are not followed: the headers are meant for this server only, and it must not send requests
  // to other servers that the console can reach.
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
      : `${url} stopped responding: ${toFetchReason(error)}.`
  }

  async function runOne(audit: Audit): Promise<AuditResult> {
    stopped.signal.throwIfAborted()
    const result = await withinTime(audit.fn(), stopped.signal).catch((error: unknown) => {
      // If one request gets no response, the whole run ends.
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
    else
      end = {
        state: 'failed',
        message: `The report could not be generated: ${toFetchReason(error)}.`,
      }
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
    late.reject(new Error(`no response within ${answerTimeoutMs / 1000} s`))
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

/** The response to the probe has about a hundred bytes. */
const maxBytes = 1024 * 1024

/**
 * Sends a minimal query first, so that a wrong URL gives one error message instead of dozens of failed
 * audits. @throws {ConsoleError} unless a GraphQL server responds.
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
      ? `, and ${text.message}. Check that this is the URL of a GraphQL server.`
      : findErrorText(answer, text)
  if (complaint === undefined) return
  const status = `${answer.status} ${answer.statusText}`.trim()
  throw new ConsoleError(502, 'not_graphql', `${url} responded with status ${status}${complaint}`)
}

/** Returns the end of the error message; undefined if the response is GraphQL. */
function findErrorText({ status, headers }: Response, text: string): string | undefined {
  if (status === 401 || status === 403) {
    return '. Send credentials as a header, such as Authorization: Bearer TOKEN.'
  }
  if (status === 404) return '. Check the path: many servers use /graphql.'
  if (status === 429) return '. It receives too many requests. Wait, and try again.'
  if (status >= 300 && status < 400) {
    return ` and redirects to ${headers.get('location') ?? 'another URL'}. Audit that URL instead.`
  }
  if (isGraphql(text)) return undefined
  if (headers.get('content-type')?.includes('text/html')) {
    return ' and an HTML page instead of GraphQL. Check the path.'
  }
  if (status >= 500) return ' and no GraphQL response. Check that the server is healthy.'
  return ' and no GraphQL response. Check that this is the URL of a GraphQL server.'
}

function isGraphql(text: string): boolean {
  try {
    const result: unknown = JSON.parse(text)
    return typeof result === 'object' && result !== null && ('data' in result || 'errors' in result)
  } catch {
    return false
  }
}

/** A request and its response as human-readable text. */
export interface AuditExchange {
  readonly request: string
  readonly status: number
  readonly response: string
}

const shownCharacters = 4_000
const longestBytes = 65_536

/** Clones the response, so that its body stays readable. */
async function toExchange({ request, response }: AuditFail): Promise<AuditExchange> {
  const { status, statusText } = response
  // A cookie may contain a session.
  const headers = [...response.headers].map(
    ([name, value]) => `${name}: ${name === 'set-cookie' ? '(hidden)' : value}`,
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

/** Reads only the start of the body, because some servers never end it. */
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
  // Not awaited: cancelling a clone finishes only when the original is cancelled too.
  void reader.cancel().catch(() => undefined)
  return text.length > shownCharacters ? `${text.slice(0, shownCharacters)}…` : text
}
