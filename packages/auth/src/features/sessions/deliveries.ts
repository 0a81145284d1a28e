import type { Log } from '@portcullis/service-kit/log'
import type { Queries } from '../../db/database.ts'
import type { RefreshToken } from './refresh-tokens.ts'
import { markDelivered } from './statements/sessions.ts'

export interface DeliverySettings {
  readonly db: Queries
  readonly log: Pick<Log, 'warning'>
  readonly now: () => number
  readonly retryMs?: number
}

export interface Deliveries extends AsyncDisposable {
  /** The answer with this token has left. Never waits and never fails. */
  mark(token: RefreshToken): void
  /** Resolves when all marks so far are stored, or cannot be at present. */
  settled(): Promise<void>
}

/** Beyond that the oldest are forgotten: their sessions count as not delivered. */
const mostWaiting = 10_000

/**
 * Stores which refresh tokens have left, beside the requests: one statement for all since the last one.
 * What is lost here, with the process or while the database is away, only makes a session more lenient:
 * the token before a token that is not known to be delivered is accepted as long as that is unused.
 */
export function openDeliveries(settings: DeliverySettings): Deliveries {
  const { db, log, now, retryMs = 1_000 } = settings
  const waiting = new Map<string, { readonly counter: number; readonly atMs: number }>()
  let writing: Promise<void> | undefined
  let retry: NodeJS.Timeout | undefined
  let isClosed = false
  let isLost = false

  const write = async (): Promise<void> => {
    const batch = [...waiting]
    waiting.clear()
    try {
      await db.run(markDelivered, {
        sessionIds: batch.map(([sessionId]) => sessionId),
        counters: batch.map(([, { counter }]) => counter),
        times: batch.map(([, { atMs }]) => new Date(atMs)),
      })
      isLost = false
    } catch (error) {
      if (!isLost) {
        const reason = error instanceof Error ? error.message : error
        log.warning(`Delivered refresh tokens cannot be marked at present: ${reason}`)
      }
      isLost = true
      // A newer token of the same session has taken the place.
      for (const [sessionId, mark] of batch) {
        if (!waiting.has(sessionId) && waiting.size < mostWaiting) waiting.set(sessionId, mark)
      }
    }
  }
  const pump = (): void => {
    if (writing !== undefined || waiting.size === 0) return
    writing = write().finally(() => {
      writing = undefined
      if (!isLost) return pump()
      if (isClosed) return
      retry ??= setTimeout(() => {
        retry = undefined
        pump()
      }, retryMs)
      retry.unref()
    })
  }

  return {
    mark({ sessionId, counter }) {
      const [oldest] = waiting.keys()
      if (waiting.size >= mostWaiting && oldest !== undefined) waiting.delete(oldest)
      const known = waiting.get(sessionId)
      if (known === undefined || known.counter < counter) {
        waiting.set(sessionId, { counter, atMs: now() })
      }
      if (retry === undefined) pump()
    },
    async settled() {
      // It may be part of the statement under way, or of the one after.
      for (let round = 0; round < 2 && writing !== undefined; round += 1) await writing
    },
    async [Symbol.asyncDispose]() {
      isClosed = true
      clearTimeout(retry)
      await writing
      if (waiting.size > 0) await write()
    },
  }
}
