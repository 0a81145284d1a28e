import { randomUUID } from 'node:crypto'
import { renderAuditPage } from '@portcullis/graphql-over-http/audit-page'
import {
  type Audit,
  type AuditResult,
  discardBodies,
  RateLimitedError,
  runAudits,
  serverAudits,
  toAuditReport,
} from '@portcullis/graphql-over-http/audits'
import { toReason } from '../upstream.ts'
import { type AuditExchange, toExchange } from './audits-exchange.ts'
import type { AuditPlan, AuditProfile } from './audits-plan.ts'

export type AuditLevel = 'MUST' | 'SHOULD' | 'MAY'

/** How one audit ended. */
export interface AuditOutcome {
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
