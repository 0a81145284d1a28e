import { type AuditRequest, type AuditTarget, sendRequest } from './audit-request.ts'
import { discardBody, toWebResponse } from './body.ts'
import { type Expectation, findReason, toAnswer } from './expect.ts'
import { findRateLimited, toRateLimited } from './rate-limited.ts'

/** The requirement level of an audit, as defined in RFC 2119. */
export type AuditRequirement = 'MUST' | 'SHOULD' | 'MAY'

/** The name of an audit, which starts with its requirement level. */
export type AuditName = `${AuditRequirement} ${string}`

/** The result of an audit that the server passed. */
export interface AuditOk {
  /** The four-character id of the audit. */
  readonly id: string
  /** What was audited; starts with the level. */
  readonly name: AuditName
  /** The requirement level. */
  readonly level: AuditRequirement
  /** Always `ok`. */
  readonly status: 'ok'
}

/** The result of an audit that the server failed. */
export interface AuditFail {
  /** The four-character id of the audit. */
  readonly id: string
  /** What was audited; starts with the level. */
  readonly name: AuditName
  /** The requirement level. */
  readonly level: AuditRequirement
  /** `error` for a MUST, `warn` for a SHOULD or a MAY. */
  readonly status: 'warn' | 'error'
  /** Why the response fails the audit. */
  readonly reason: string
  /** What the audit sent. */
  readonly request: AuditRequest
  /** The response, still readable. */
  readonly response: Response
  /** The stream of the response, if it has one. Cancel it if you do not read it. */
  readonly body?: ReadableStream<Uint8Array<ArrayBuffer>>
}

/** The result of an audit; `status` distinguishes the two cases. */
export type AuditResult = AuditOk | AuditFail

/** One requirement of the specification, with the request that tests it. */
export interface Audit {
  /** Four characters that always identify the same requirement. */
  readonly id: string
  /** What is audited; starts with the level. */
  readonly name: AuditName
  /**
   * The requirement level. The property is not enumerable, so that an audit prints and compares
   * like an audit of graphql-http: `id`, `name` and `fn`.
   */
  readonly level: AuditRequirement
  /**
   * Sends one request, or two where the audit depends on what the server accepts, and judges the
   * response. Rejects only if there is no response to judge: after a network failure, or with a
   * `RateLimitedError` when the server responds with 429.
   */
  readonly fn: () => Promise<AuditResult>
}

/** An audit as written in the tables: the request, and the expectations on the response. */
export interface AuditRow {
  readonly id: string
  readonly name: AuditName
  readonly request: AuditRequest
  readonly expect: readonly Expectation[]
  /** Sent first. If the response is not as expected, the audit does not apply and passes. */
  readonly premise?: Pick<AuditRow, 'request' | 'expect'>
  /** The only status profile to which the row applies; by default it applies to both. */
  readonly profile?: 'classic'
}

export function toAudit(row: AuditRow, target: AuditTarget): Audit {
  const { id, name } = row
  const level = toLevel(name)
  const fn = async (): Promise<AuditResult> => {
    const ok: AuditOk = { id, name, level, status: 'ok' }
    if (row.premise && !(await isMet(row.premise, target))) return ok
    const { reason, response } = await judge(row, target)
    if (reason === undefined) {
      await discardBody(response.body)
      return ok
    }
    return {
      id,
      name,
      level,
      status: level === 'MUST' ? 'error' : 'warn',
      reason,
      request: row.request,
      response,
      ...(response.body && { body: response.body }),
    }
  }
  return Object.defineProperty({ id, name, level, fn }, 'level', { enumerable: false })
}

async function isMet(premise: NonNullable<AuditRow['premise']>, target: AuditTarget) {
  const { reason, response } = await judge(premise, target)
  await discardBody(response.body)
  return reason === undefined
}

/**
 * Sends a request and returns the reason why the response is not as expected, or undefined if it
 * is.
 */
async function judge(
  { request, expect }: Pick<AuditRow, 'request' | 'expect'>,
  target: AuditTarget,
) {
  const response = toWebResponse(await sendRequest(request, target))
  try {
    if (response.status === 429) throw toRateLimited(response)
    return { response, reason: await findReason(toAnswer(response), expect) }
  } catch (error) {
    await discardBody(response.body)
    throw error
  }
}

/** Runs audits with limited concurrency and resolves to their results in the same order. */
export async function runAudits(
  audits: readonly Audit[],
  { concurrency, onResult, mostWaitMs = 0, onWait }: RunOptions,
): Promise<AuditResult[]> {
  const retry = new RateLimitRetry(mostWaitMs, onWait)
  const results = new Map<Audit, AuditResult>()
  const waiting = audits.values()
  const failures: unknown[] = []
  async function work(): Promise<void> {
    for (const audit of waiting) {
      try {
        const result = await retry.run(audit)
        results.set(audit, result)
        onResult?.(result)
      } catch (error) {
        failures.push(error)
      }
      if (failures.length > 0) return
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work))
  if (failures.length > 0) {
    await discardBodies([...results.values()])
    throw failures[0]
  }
  return audits.flatMap((audit) => results.get(audit) ?? [])
}

/** Options of {@link runAudits}. */
export interface RunOptions {
  /** How many audits run at the same time. */
  readonly concurrency: number
  /** Called with each result as soon as it is known. */
  readonly onResult?: (result: AuditResult) => void
  /**
   * How long to wait in total for a server that responds with 429. Default: 0, which does not wait.
   */
  readonly mostWaitMs?: number
  /** Called with the milliseconds before each wait for a server that responds with 429. */
  readonly onWait?: (waitMs: number) => void
}

/**
 * Repeats an audit that hit a rate limit, until the waiting time of all audits together is used up.
 */
class RateLimitRetry {
  readonly #endsAt: number
  readonly #onWait: RunOptions['onWait']

  constructor(mostWaitMs: number, onWait: RunOptions['onWait']) {
    this.#endsAt = performance.now() + mostWaitMs
    this.#onWait = onWait
  }

  async run(audit: Audit): Promise<AuditResult> {
    for (;;) {
      try {
        return await audit.fn()
      } catch (error) {
        const limited = findRateLimited(error)
        const waitMs = limited?.retryAfterMs ?? Number.POSITIVE_INFINITY
        if (performance.now() + waitMs > this.#endsAt) throw error
        this.#onWait?.(waitMs)
        await new Promise((resolve) => setTimeout(resolve, waitMs))
      }
    }
  }
}

/** Cancels the response bodies that failed results still hold open. */
export async function discardBodies(results: readonly AuditResult[]): Promise<void> {
  const failed = results.filter((result) => result.status !== 'ok')
  await Promise.all(failed.map(({ body }) => discardBody(body)))
}

export function toLevel(name: AuditName): AuditRequirement {
  if (name.startsWith('MUST ')) return 'MUST'
  return name.startsWith('SHOULD ') ? 'SHOULD' : 'MAY'
}
