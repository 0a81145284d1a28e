import type { Log } from '@portcullis/service-kit/log/log'
import { toReason } from '@portcullis/service-kit/text/reason'
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
  /**
   * Records that the response with this token was sent. Returns at once and never fails.
   * @param reuseIntervalMs how long the previous token is accepted from now on.
   */
  mark(token: RefreshToken, reuseIntervalMs: number): void
  /** Resolves when all marks so far are stored, or cannot be stored at present. */
  settled(): Promise<void>
}

/** When the limit is reached, the oldest marks are dropped: their tokens count as not delivered. */
const mostWaiting = 10_000

/**
 * Marks are collected for this time. Until then the previous token is accepted with and without the
 * mark, so only marks with a shorter reuse interval are written at once.
 */
const collectMs = 100

/**
 * Stores in the background which refresh tokens were sent: each statement writes all marks since
 * the previous statement. If marks are lost, with the process or while the database is unavailable,
 * a session only becomes more lenient: the previous token is accepted until the current one is used.
 */
export function openDeliveries(settings: DeliverySettings): Deliveries {
  const { db, log, now, retryMs = 1_000 } = settings
  const waiting = new Map<string, { readonly counter: number; readonly atMs: number }>()
  let writing: Promise<void> | undefined
  let isWriteWanted = false
  let collecting: NodeJS.Timeout | undefined
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
        log.warning(`Cannot record delivered refresh tokens; retrying: ${toReason(error)}`)
      }
      isLost = true
      // Keep a newer token of the same session.
      for (const [sessionId, mark] of batch) {
        if (!waiting.has(sessionId) && waiting.size < mostWaiting) waiting.set(sessionId, mark)
      }
    }
  }
  /** Writes all marks now, or as soon as the statement in progress has ended. */
  const pump = (): void => {
    clearTimeout(collecting)
    collecting = undefined
    isWriteWanted = writing !== undefined
    if (writing !== undefined || waiting.size === 0) return
    writing = write().finally(() => {
      writing = undefined
      if (!isLost) {
        if (isWriteWanted) pump()
        return
      }
      if (isClosed) return
      retry ??= setTimeout(() => {
        retry = undefined
        pump()
      }, retryMs)
      retry.unref()
    })
  }

  return {
    mark({ sessionId, counter }, reuseIntervalMs) {
      const [oldest] = waiting.keys()
      if (waiting.size >= mostWaiting && oldest !== undefined) waiting.delete(oldest)
      const known = waiting.get(sessionId)
      if (known === undefined || known.counter < counter) {
        waiting.set(sessionId, { counter, atMs: now() })
      }
      if (retry !== undefined) return
      if (reuseIntervalMs < collectMs) pump()
      else collecting ??= setTimeout(pump, collectMs).unref()
    },
    async settled() {
      if (retry === undefined) pump()
      // The mark may be part of the statement in progress or of the next one.
      for (let round = 0; round < 2 && writing !== undefined; round += 1) await writing
    },
    async [Symbol.asyncDispose]() {
      isClosed = true
      clearTimeout(collecting)
      clearTimeout(retry)
      while (writing !== undefined) await writing
      if (waiting.size > 0) await write()
    },
  }
}
