import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '@portcullis/service-kit/log/log'
import { toReason } from '@portcullis/service-kit/text/reason'
import type { Queries } from '../../db/database.ts'
import {
  claimMessages,
  deleteMessage,
  failMessage,
  type MessageChannel,
  type OutboxRow,
  releaseMessage,
  retryMessage,
} from '../statements/outbox.ts'
import { describeFailure, UndeliverableError } from './failures.ts'

/** Resolves when the next system has accepted the message. @throws UndeliverableError */
export type Deliver = (message: OutboxRow, signal: AbortSignal) => Promise<void>

export interface OutboxSenderSettings {
  readonly db: Queries
  /** Messages of other channels are left to other processes. */
  readonly channels: Readonly<Partial<Record<MessageChannel, Deliver>>>
  readonly log: Pick<Log, 'error' | 'warning'>
  /** The maximum number of messages in progress per channel; a slow one does not delay others. */
  readonly concurrency?: number
  /** How often to search for retries and for messages of processes that have ended. */
  readonly pollMs?: number
  readonly sendTimeoutMs?: number
  /** How long no other process may send a claimed message; must exceed `sendTimeoutMs`. */
  readonly leaseMs?: number
  /** Delays after the first, second, … failure; the last one repeats. */
  readonly backoffMs?: readonly number[]
  /** How long a shutdown waits for messages in progress. */
  readonly drainTimeoutMs?: number
  /** Called for each message that has failed permanently. */
  readonly onGivenUp?: (channel: MessageChannel, kind: string) => void
}

export interface OutboxSender extends AsyncDisposable {
  /** Signals that there are messages to send. Returns immediately and never fails. */
  notify(): void
  /**
   * Stops claiming messages, and waits for those in progress until `expired` fires at the latest.
   * Unsent messages return to the outbox.
   */
  drain(expired: AbortSignal): Promise<void>
}

const minute = 60_000
const defaultBackoffMs = [5_000, 30_000, 2 * minute, 5 * minute, 10 * minute, 15 * minute]
const maxAttempts = 50
const closeTimeoutMs = 4_000

/**
 * Sends the messages in the outbox after the statement that wrote them has been committed. No
 * database connection is held while a message is being sent. If a process ends between sending a
 * message and recording that, the message is sent twice; none is lost.
 */
export function openOutboxSender(settings: OutboxSenderSettings): OutboxSender {
  const { db, channels, log, concurrency = 4, pollMs = 5_000, sendTimeoutMs = minute } = settings
  const { leaseMs = sendTimeoutMs + minute, backoffMs = defaultBackoffMs } = settings
  const { drainTimeoutMs = 10_000, onGivenUp } = settings
  const names = Object.keys(channels)
  const stopping = new AbortController()
  const active = new Set<Promise<void>>()
  let isDraining = false
  let claiming: Promise<void> | undefined
  /** Channels that may have more messages due than the last query returned. */
  const due = new Set<string>()
  const inProgress = new Map<string, number>(names.map((name) => [name, 0]))
  const roomOf = (name: string) => concurrency - (inProgress.get(name) ?? 0)
  let isDatabaseLost = false

  const notify = (): void => {
    for (const name of names) due.add(name)
    pump()
  }
  const pump = (): void => {
    if (isDraining || claiming !== undefined) return
    const ready = names.filter((name) => due.has(name) && roomOf(name) > 0)
    if (ready.length === 0) return
    claiming = claim(ready).finally(() => {
      claiming = undefined
      pump()
    })
  }
  const claim = async (ready: readonly string[]): Promise<void> => {
    for (const name of ready) due.delete(name)
    const rooms = ready.map(roomOf)
    try {
      const rows = await db.run(claimMessages, { channels: ready, rooms, leaseMs })
      isDatabaseLost = false
      for (const [at, name] of ready.entries()) {
        if (rows.filter(({ channel }) => channel === name).length === rooms[at]) due.add(name)
      }
      for (const row of rows) track(row)
    } catch (error) {
      if (!isDatabaseLost) log.error(`Cannot read the outbox: ${toReason(error)}`)
      isDatabaseLost = true
      // The next poll retries.
      due.clear()
    }
  }
  const track = (row: OutboxRow): void => {
    const { channel } = row
    const count = (more: number) => inProgress.set(channel, (inProgress.get(channel) ?? 0) + more)
    const work = handle(row)
    active.add(work)
    count(1)
    void work.finally(() => {
      active.delete(work)
      count(-1)
      pump()
    })
  }

  const handle = async (row: OutboxRow): Promise<void> => {
    const claimedAt = performance.now()
    const outcome = await toOutcome(row)
    const leftMs = row.expires_in_ms - (performance.now() - claimedAt)
    const { id, attempts } = row
    if (outcome === 'sent') return await settle(id, () => db.run(deleteMessage, { id }))
    if (outcome === 'stopped')
      return await settle(id, () => db.run(releaseMessage, { id, attempts }))
    const reason = describeFailure(outcome, row)
    const { MessageID: name } = row.payload
    const label = `The message ${id} (${row.kind}${name === undefined ? '' : `, message_id ${name}`})`
    const waitMs = backoffMs[Math.min(attempts, backoffMs.length) - 1] ?? minute
    const isPermanent = outcome instanceof UndeliverableError || attempts >= maxAttempts
    if (isPermanent || waitMs >= leftMs) {
      const after = attempts === 1 ? '1 attempt' : `${attempts} attempts`
      log.error(`${label} failed permanently after ${after}: ${reason}`)
      onGivenUp?.(row.channel, row.kind)
      return await settle(id, () => db.run(failMessage, { id, attempts, error: reason }))
    }
    log.warning(`${label} was not sent, next attempt in ${Math.round(waitMs / 1000)} s: ${reason}`)
    await settle(id, () => db.run(retryMessage, { id, attempts, waitMs, error: reason }))
  }
  const toOutcome = async (row: OutboxRow): Promise<'sent' | 'stopped' | Error> => {
    const deliver = channels[row.channel]
    if (deliver === undefined) return new UndeliverableError('the channel is not configured')
    if (row.expires_in_ms <= 0) return new UndeliverableError('the code is no longer valid')
    const timeout = AbortSignal.timeout(sendTimeoutMs)
    const signal = AbortSignal.any([stopping.signal, timeout])
    try {
      await Promise.race([deliver(row, signal), untilAborted(signal)])
      return 'sent'
    } catch (error) {
      if (stopping.signal.aborted) return 'stopped'
      if (timeout.aborted) return new Error(`sending took longer than ${sendTimeoutMs} ms`)
      return error instanceof Error ? error : new Error(String(error))
    }
  }
  /** Retries until the result is recorded, because the message would otherwise be sent again. */
  const settle = async (id: number, record: () => Promise<unknown>): Promise<void> => {
    const endsAt = performance.now() + leaseMs
    for (let waitMs = 100; ; waitMs = Math.min(waitMs * 2, 5_000)) {
      try {
        await record()
        return
      } catch (error) {
        if (stopping.signal.aborted || performance.now() + waitMs > endsAt) {
          log.error(`The result of message ${id} could not be recorded: ${toReason(error)}`)
          return
        }
        await sleep(waitMs, undefined, { signal: stopping.signal }).catch(() => undefined)
      }
    }
  }

  const poll = setInterval(notify, pollMs)
  poll.unref()
  notify()
  const drain = async (expired: AbortSignal): Promise<void> => {
    isDraining = true
    clearInterval(poll)
    const stop = () => stopping.abort()
    const timer = setTimeout(stop, drainTimeoutMs)
    if (expired.aborted) stop()
    expired.addEventListener('abort', stop, { once: true })
    // Messages that are being claimed will be in progress soon.
    await claiming
    await Promise.all(active)
    expired.removeEventListener('abort', stop)
    clearTimeout(timer)
  }
  return {
    notify,
    drain,
    async [Symbol.asyncDispose]() {
      await drain(AbortSignal.timeout(closeTimeoutMs))
    },
  }
}

async function untilAborted(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>()
  signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  if (signal.aborted) reject(signal.reason)
  return await promise
}
