import type { Limits } from '../limits.ts'
import { type MeasuredConnection, relieve } from './memory-relief.ts'
import { SlabPool } from './output.ts'
import { RequestBuffers } from './request-buffers.ts'
import type { Application } from './route.ts'
import type { StreamTable } from './stream-table.ts'
import { type ConnectionAge, inspect, type WatchedConnection } from './watchdog.ts'

/** How late a deadline may be noticed: one look at all calls serves those of so much time. */
const SWEEP_MS = 5

/** Timers cannot wait for ever. */
const MAX_SWEEP_MS = 60_000

export interface HubConnection extends WatchedConnection, MeasuredConnection {
  readonly streams: StreamTable
  flush(): void
  /** Ends the calls whose time is over. */
  expire(nowMs: number): void
}

/** What the connections of one server share: clock, output memory, and the timers. */
export class Hub {
  readonly limits: Limits
  readonly application: Application
  readonly age: ConnectionAge
  readonly slabs = new SlabPool()
  readonly requestBuffers = new RequestBuffers()
  /** The time of the read or timer that runs now. */
  nowMs = Date.now()
  readonly connections = new Set<HubConnection>()
  /** How many of them are being sent away. */
  drainingCount = 0
  /** Called when a connection came, went or began to drain. */
  onChange: (() => void) | undefined
  /** Bytes of requests that are not whole yet, on all connections. */
  #bufferedBytes = 0
  /** Bytes of answers that were not taken yet, on all connections. */
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

  /** A connection takes no new calls from now on. */
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

  /** Bytes that are counted for requests and answers; 0 when no connection is left. */
  get countedBytes(): number {
    return this.#bufferedBytes + this.#unsentBytes
  }

  /** When the last connection is gone. */
  async empty(): Promise<void> {
    if (this.connections.size === 0) return
    await new Promise<void>((resolve) => this.#whenEmpty.push(resolve))
  }

  /**
   * Flushes the connection after the callback that runs now and everything it has queued: all
   * answers that a reply of a store makes possible leave in one write per connection.
   */
  markDirty(connection: HubConnection): void {
    if (this.#dirty.push(connection) === 1) process.nextTick(this.#flushDirty)
  }

  /** Some call of this connection has to end by then. */
  watchExpiry(connection: HubConnection, expiresAtMs: number): void {
    this.#expiring.add(connection)
    if (expiresAtMs + SWEEP_MS < this.#sweepAtMs) this.#scheduleSweep(expiresAtMs)
  }

  /** Not while a connection reads or writes: any of them may be closed. */
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
    const nowMs = Date.now()
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
    const nowMs = Date.now()
    this.nowMs = nowMs
    for (const connection of this.connections) inspect(connection, nowMs)
  }
}

/** Often enough for the shortest time limit, at most once a second. */
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
