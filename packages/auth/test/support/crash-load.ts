import assert from 'node:assert/strict'
import { ask, type HttpAnswer, newEmail, password } from './http-client.ts'

/** What went on meanwhile. */
export interface LoadReport {
  readonly succeeded: number
  /** By status and code: `503 database_unavailable`. */
  readonly failures: ReadonlyMap<string, number>
  /** What no answer may be: no JSON, a trace of the program, another status. */
  readonly faults: readonly string[]
}

export interface Load {
  readonly report: LoadReport
  /** Resolves once every worker has succeeded so many times more. */
  untilSucceeded(times: number): Promise<void>
  /** Resolves once so many requests more have failed. */
  untilFailed(times: number): Promise<void>
  stop(): Promise<void>
}

interface Worker {
  succeeded: number
  refreshToken: string
  accessToken: string
}

/** Longer than any limit of the server: whoever waits so long hangs. */
const hangMs = 120_000

/**
 * People who look at themselves and refresh, all the time. A refresh whose answer was lost is
 * repeated with the same token, as every client does, and must go on.
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
    const patience = setTimeout(() => reject(new Error('It never happened')), hangMs)
    waiting.add(check)
    check()
    await promise.finally(() => {
      clearTimeout(patience)
      waiting.delete(check)
    })
  }

  const people: Worker[] = []
  for (let count = 0; count < workers; count++) {
    const { body } = await signUpInTheEnd(url)
    const { access_token: accessToken, refresh_token: refreshToken } = body
    people.push({ succeeded: 0, accessToken, refreshToken })
  }
  const work = async (person: Worker) => {
    while (!isStopped) {
      const wasLooking = person.succeeded % 2 === 0
      const answer = await send(() =>
        wasLooking
          ? ask(url, '/user', { token: person.accessToken })
          : ask(url, '/token?grant_type=refresh_token', {
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

/** Somebody new. Where the server asks to try again, they do. */
export async function signUpInTheEnd(url: string): Promise<HttpAnswer> {
  const endsAt = performance.now() + hangMs
  for (;;) {
    const answer = await ask(url, '/signup', { body: { email: newEmail(), password } })
    if (answer.status === 200) return answer
    assert.equal(findFault(answer), undefined)
    assert.ok(performance.now() < endsAt, 'nobody can sign up')
  }
}

/** A text where there was no answer at all. */
async function send(request: () => Promise<HttpAnswer>): Promise<HttpAnswer | string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  const timer = setTimeout(() => resolve('a request hangs'), hangMs)
  try {
    return await Promise.race([request(), promise])
  } catch (error) {
    return `no answer: ${error}`
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
  const isTold = retryable[errorCode] === status && code === status && /please retry/.test(msg)
  const isRight = isTold && typeof id === 'string' && headers.get('x-sb-error-code') === errorCode
  return isRight && !/\bat .+:\d+|postgres|ECONN/i.test(text) ? undefined : `${status}: ${text}`
}
