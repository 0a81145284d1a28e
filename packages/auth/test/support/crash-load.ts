import assert from 'node:assert/strict'
import { type HttpAnswer, newEmail, password, send } from './http-client.ts'

/** The results of a load. */
export interface LoadReport {
  readonly succeeded: number
  /** By status and code, for example `503 database_unavailable`. */
  readonly failures: ReadonlyMap<string, number>
  /** Responses that must not occur: no JSON, a stack trace or an unexpected status. */
  readonly faults: readonly string[]
}

export interface Load {
  readonly report: LoadReport
  /** Resolves once every worker has succeeded this many more times. */
  untilSucceeded(times: number): Promise<void>
  /** Resolves once this many more requests have failed. */
  untilFailed(times: number): Promise<void>
  stop(): Promise<void>
}

interface Worker {
  succeeded: number
  refreshToken: string
  accessToken: string
}

/** A request that takes longer than any limit of the server hangs. */
const hangMs = 120_000

/**
 * Runs workers that request GET /user and refresh their tokens. A refresh without a response is
 * repeated with the same token, as every client does, and must succeed.
 */
export async function openLoad(url: string, workers: number): Promise<Load> {
  const failures = new Map<string, number>()
  const faults: string[] = []
  let isStopped = false
  let failed = 0
  const waiting = new Set<() => void>()
  const changed = () => {
    for (const check of waiting) check()
  }
  const until = async (isSo: () => boolean) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const check = () => {
      if (faults.length > 0) reject(new Error(faults[0]))
      else if (isSo()) resolve()
    }
    const patience = setTimeout(
      () => reject(new Error('The condition was not met in time')),
      hangMs,
    )
    waiting.add(check)
    check()
    await promise.finally(() => {
      clearTimeout(patience)
      waiting.delete(check)
    })
  }

  const people: Worker[] = []
  for (let count = 0; count < workers; count++) {
    const { body } = await signUpWithRetries(url)
    const { access_token: accessToken, refresh_token: refreshToken } = body
    people.push({ succeeded: 0, accessToken, refreshToken })
  }
  const work = async (person: Worker) => {
    while (!isStopped) {
      const wasLooking = person.succeeded % 2 === 0
      const answer = await trySend(() =>
        wasLooking
          ? send(url, '/user', { token: person.accessToken })
          : send(url, '/token?grant_type=refresh_token', {
              body: { refresh_token: person.refreshToken },
            }),
      )
      if (typeof answer === 'string') {
        faults.push(answer)
        isStopped = true
      } else if (answer.status === 200) {
        person.succeeded++
        if (!wasLooking) {
          person.accessToken = answer.body.access_token
          person.refreshToken = answer.body.refresh_token
        }
      } else {
        failed++
        const what = `${answer.status} ${answer.body?.error_code}`
        failures.set(what, (failures.get(what) ?? 0) + 1)
        const fault = findFault(answer)
        if (fault !== undefined) {
          faults.push(fault)
          isStopped = true
        }
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      changed()
    }
  }
  const working = people.map(work)
  return {
    report: {
      get succeeded() {
        return people.reduce((sum, { succeeded }) => sum + succeeded, 0)
      },
      failures,
      faults,
    },
    async untilSucceeded(times) {
      const before = people.map(({ succeeded }) => succeeded)
      const isThere = ({ succeeded }: Worker, at: number) => succeeded >= (before[at] ?? 0) + times
      await until(() => people.every(isThere))
    },
    async untilFailed(times) {
      const before = failed
      await until(() => failed >= before + times)
    },
    async stop() {
      isStopped = true
      await Promise.all(working)
    },
  }
}

/** Signs a new user up, and retries if the server asks for it. */
export async function signUpWithRetries(url: string): Promise<HttpAnswer> {
  const endsAt = performance.now() + hangMs
  for (;;) {
    const answer = await send(url, '/signup', { body: { email: newEmail(), password } })
    if (answer.status === 200) return answer
    assert.equal(findFault(answer), undefined)
    assert.ok(performance.now() < endsAt, 'no sign-up succeeded in time')
  }
}

/** Returns a text if there was no response. */
async function trySend(request: () => Promise<HttpAnswer>): Promise<HttpAnswer | string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  const timer = setTimeout(() => resolve('a request hangs'), hangMs)
  try {
    return await Promise.race([request(), promise])
  } catch (error) {
    return `no response: ${error}`
  } finally {
    clearTimeout(timer)
  }
}

const retryable: Readonly<Record<string, number>> = {
  database_unavailable: 503,
  request_timeout: 504,
}

function findFault({ status, body, headers }: HttpAnswer): string | undefined {
  const text = JSON.stringify(body)
  const { code, error_code: errorCode, msg, error_id: id } = body
  const isRetryable = retryable[errorCode] === status && code === status && /please retry/.test(msg)
  const isRight =
    isRetryable && typeof id === 'string' && headers.get('x-sb-error-code') === errorCode
  return isRight && !/\bat .+:\d+|postgres|ECONN/i.test(text) ? undefined : `${status}: ${text}`
}
