import type { Limits } from '../limits.ts'
import { SlabPool } from './output.ts'
import { ReadTurns } from './read-turns.ts'
import { RequestBuffers } from './request-buffers.ts'
import type { Application } from './stream.ts'
import type { StreamTable } from './stream-table.ts'
import {
  type ConnectionAge,
  inspect,
  type MeasuredConnection,
  relieve,
  type WatchedConnection,
} from './watchdog.ts'

/** How late a deadline may be noticed: one sweep covers all deadlines in this period. */
const SWEEP_MS = 5

/** Upper bound for a timer, since timers have a maximum delay. */
const MAX_SWEEP_MS = 60_000

export interface HubConnection extends WatchedConnection, MeasuredConnection {
  readonly streams: StreamTable
  flush(): void
  /** Ends the calls whose deadline has passed. */
  expire(nowMs: number): void
}

/** The state that the connections of one server share: clock, output memory and timers. */
export class Hub {
  readonly limits: Limits
  readonly application: Application
  readonly age: ConnectionAge
  readonly slabs = new SlabPool()
  readonly requestBuffers = new RequestBuffers()
  readonly turns = new ReadTurns()
  /** The time of the current read or timer callback. */
  nowMs = performance.now()
  readonly connections = new Set<HubConnection>()
  /** How many connections are draining. */
  drainingCount = 0
  /** Called when a connection was opened, was closed or began to drain. */
  onChange: (() => void) | undefined
  /** Bytes of incomplete requests and open streams on all connections. */
  #bufferedBytes = 0
  /** Bytes of responses that were not sent yet, on all connections. */
  #unsentBytes = 0
  #isReliefDue = false
  #dirty: HubConnection[] = []
  readonly #expiring = new Set<HubConnection>()
  #sweepTimer: NodeJS.Timeout | undefined
  #sweepAtMs = Number.POSITIVE_INFINITY
  #watchTimer: NodeJS.Timeout | undefined
  #whenEmpty: (() => void)[] = []

  constructor(limits: Limits, application: Application, age: ConnectionAge) {
    this.limits = limits
    this.application = application
    this.age = age
  }

  add(connection: HubConnection): void {
    this.connections.add(connection)
    this.onChange?.()
    this.#watchTimer ??= setInterval(this.#watch, watchIntervalMs(this.limits, this.age)).unref()
  }

  remove(connection: HubConnection): void {
    this.#expiring.delete(connection)
    if (!this.connections.delete(connection)) return
    if (connection.drain.isBegun) this.drainingCount -= 1
    this.onChange?.()
    if (this.connections.size > 0) return
    clearInterval(this.#watchTimer)
    this.#watchTimer = undefined
    const waiting = this.#whenEmpty
    this.#whenEmpty = []
    for (const resolve of waiting) resolve()
  }

  /** Called when a connection stops accepting new calls. */
  leaving(connection: HubConnection): void {
    if (!this.connections.has(connection)) return
    this.drainingCount += 1
    this.onChange?.()
  }

  countBuffered(change: number): void {
    this.#bufferedBytes += change
    if (this.#bufferedBytes > this.limits.totalBufferedRequestBytes) this.#relieveSoon()
  }

  countUnsent(change: number): void {
    this.#unsentBytes += change
    if (this.#unsentBytes > this.limits.totalUnsentBytes) this.#relieveSoon()
  }

  /** The counted bytes of requests and responses; 0 when there are no connections. */
  get countedBytes(): number {
    return this.#bufferedBytes + this.#unsentBytes
  }

  /** Resolves when the last connection is closed. */
  async empty(): Promise<void> {
    if (this.connections.size === 0) return
    await new Promise<void>((resolve) => this.#whenEmpty.push(resolve))
  }

  /**
   * Flushes the connection after the current callback and everything that it has queued, so that
   * all responses that one reply of a store makes possible are sent in one write per connection.
   */
  markDirty(connection: HubConnection): void {
    if (this.#dirty.push(connection) === 1) process.nextTick(this.#flushDirty)
  }

  /** Schedules a sweep for a call of this connection that expires at this time. */
  watchExpiry(connection: HubConnection, expiresAtMs: number): void {
    this.#expiring.add(connection)
    if (expiresAtMs + SWEEP_MS < this.#sweepAtMs) this.#scheduleSweep(expiresAtMs)
  }

  /** Deferred, because it may close any connection, even one that is being read or written now. */
  #relieveSoon(): void {
    if (this.#isReliefDue) return
    this.#isReliefDue = true
    process.nextTick(() => {
      this.#isReliefDue = false
      relieve(this.connections, this.limits)
    })
  }

  readonly #flushDirty = (): void => {
    const dirty = this.#dirty
    this.#dirty = []
    for (const connection of dirty) connection.flush()
  }

  readonly #sweep = (): void => {
    const nowMs = performance.now()
    this.nowMs = nowMs
    let nextMs = Number.POSITIVE_INFINITY
    for (const connection of this.#expiring) {
      const { streams } = connection
      if (streams.earliestExpiryMs <= nowMs || streams.count === 0) connection.expire(nowMs)
      nextMs = Math.min(nextMs, streams.earliestExpiryMs)
      if (streams.earliestExpiryMs === Number.POSITIVE_INFINITY) this.#expiring.delete(connection)
    }
    this.#sweepAtMs = Number.POSITIVE_INFINITY
    if (this.#expiring.size > 0) this.#scheduleSweep(nextMs)
  }

  #scheduleSweep(atMs: number): void {
    const delayMs = Math.min(MAX_SWEEP_MS, Math.max(SWEEP_MS, atMs - this.nowMs))
    clearTimeout(this.#sweepTimer)
    this.#sweepAtMs = this.nowMs + delayMs
    this.#sweepTimer = setTimeout(this.#sweep, delayMs).unref()
  }

  readonly #watch = (): void => {
    const nowMs = performance.now()
    this.nowMs = nowMs
    for (const connection of this.connections) inspect(connection, nowMs)
  }
}

/** A quarter of the shortest timeout, but at least 10 ms and at most a second. */
function watchIntervalMs(limits: Limits, age: ConnectionAge): number {
  const shortest = Math.min(
    limits.heldBackTimeoutMs,
    limits.unsentTimeoutMs,
    limits.prefaceTimeoutMs,
    limits.frameTimeoutMs,
    limits.keepaliveMs,
    limits.keepaliveTimeoutMs,
    age.maxMs,
    age.graceMs,
  )
  return Math.min(1000, Math.max(10, shortest / 4))
}
