import { Worker } from 'node:worker_threads'
import { Latencies } from '@portcullis/bench-kit/latencies'
import type { AnswerCode, AnswerListener, Connection } from './connection.ts'
import type { PaceJob } from './pacer.ts'

/** Decides when calls are made, and records the responses. */
export interface Driver extends AnswerListener {
  readonly tally: Tally
  /** Resolves after the last response, with the seconds since the first call. */
  drive(connections: readonly Connection[]): Promise<number>
}

export class Tally {
  ok = 0
  overLimit = 0
  errors = 0
  readonly latencies = new Latencies()

  add(code: AnswerCode, latencyMs: number): void {
    if (code === 1) this.ok++
    else if (code === 2) this.overLimit++
    else this.errors++
    this.latencies.add(latencyMs)
  }
}

/** Every response is followed by the next call, until the time is over or enough calls were made. */
export class ClosedLoop implements Driver {
  readonly tally = new Tally()
  readonly #streams: number
  readonly #seconds: number
  #callsLeft: number
  #endsAtMs = 0
  #inFlight = 0
  #finished: () => void = () => {}

  constructor(streams: number, { seconds = Infinity, calls = Infinity }) {
    this.#streams = streams
    this.#seconds = seconds
    this.#callsLeft = calls
  }

  async drive(connections: readonly Connection[]): Promise<number> {
    const startMs = performance.now()
    this.#endsAtMs = startMs + this.#seconds * 1000
    await new Promise<void>((resolve) => {
      this.#finished = resolve
      for (const connection of connections) {
        for (let stream = 0; stream < this.#streams; stream++) this.#call(connection, startMs)
        connection.flush()
      }
    })
    return (performance.now() - startMs) / 1000
  }

  answered(connection: Connection, code: AnswerCode, startedAtMs: number, nowMs: number): void {
    this.#inFlight--
    this.tally.add(code, nowMs - startedAtMs)
    if (nowMs < this.#endsAtMs) this.#call(connection, nowMs)
    if (this.#inFlight === 0) this.#finished()
  }

  #call(connection: Connection, now: number): void {
    if (this.#callsLeft <= 0) return
    this.#callsLeft--
    this.#inFlight++
    connection.call(now)
  }
}

/** Calls without a response this long after the last call count as errors. */
const patienceMs = 3000

/**
 * Makes calls at a steady rate, independent of responses. Latency is measured from the time a call was due,
 * so that a server or a load generator that falls behind cannot hide it.
 */
export class OpenLoop implements Driver {
  readonly tally = new Tally()
  readonly #perSecond: number
  readonly #calls: number
  #answers = 0
  #finished: () => void = () => {}

  constructor(perSecond: number, seconds: number) {
    this.#perSecond = perSecond
    this.#calls = Math.round(perSecond * seconds)
  }

  async drive(connections: readonly Connection[]): Promise<number> {
    const intervalMs = 1000 / this.#perSecond
    const finished = new Promise<void>((resolve) => {
      this.#finished = resolve
    })
    const job: PaceJob = { calls: this.#calls, intervalMs }
    const pacer = new Worker(new URL('./pacer.ts', import.meta.url), { workerData: job })
    let startMs = Infinity
    let made = 0
    const callWhatIsDue = () => {
      const now = performance.now()
      while (made < this.#calls && startMs + made * intervalMs <= now) {
        const connection = connections[made % connections.length]
        connection?.call(startMs + made * intervalMs)
        connection?.flush()
        made++
      }
    }
    pacer.on('message', () => {
      // The first tick shows that the pacer runs, so the measurement starts here.
      if (startMs === Infinity) startMs = performance.now()
      callWhatIsDue()
    })
    await new Promise((resolve, reject) => {
      pacer.once('exit', resolve)
      pacer.once('error', reject)
    })
    callWhatIsDue()
    const last = setTimeout(() => {
      this.tally.errors += this.#calls - this.#answers
      this.#finished()
    }, patienceMs)
    if (this.#answers === this.#calls) this.#finished()
    await finished
    clearTimeout(last)
    return (performance.now() - startMs) / 1000
  }

  answered(_: Connection, code: AnswerCode, startedAtMs: number, nowMs: number): void {
    this.#answers++
    this.tally.add(code, nowMs - startedAtMs)
    if (this.#answers === this.#calls) this.#finished()
  }
}

/** With more concurrent calls on one connection a server may refuse streams; Envoy also waits then. */
const mostInFlight = 100
const batchMs = 5

/**
 * A high steady rate: calls that are due are sent together every few milliseconds, as a busy proxy does. A
 * connection that is behind gets no more calls until it has answered. Latency is measured from the time a
 * call was due, so that this is visible.
 */
export class BatchedLoop implements Driver {
  readonly tally = new Tally()
  readonly #perSecond: number
  readonly #calls: number
  readonly #inFlight = new Map<Connection, number>()
  #answers = 0
  #finished: () => void = () => {}

  constructor(perSecond: number, seconds: number) {
    this.#perSecond = perSecond
    this.#calls = Math.round(perSecond * seconds)
  }

  async drive(connections: readonly Connection[]): Promise<number> {
    const startMs = performance.now()
    const intervalMs = 1000 / this.#perSecond
    let made = 0
    const finished = new Promise<void>((resolve) => {
      this.#finished = resolve
    })
    const timer = setInterval(() => {
      const due = Math.min(this.#calls, Math.floor((performance.now() - startMs) / intervalMs))
      for (let isStuck = false; made < due && !isStuck; ) {
        isStuck = true
        for (const connection of connections) {
          const inFlight = this.#inFlight.get(connection) ?? 0
          if (made >= due || inFlight >= mostInFlight) continue
          this.#inFlight.set(connection, inFlight + 1)
          connection.call(startMs + made * intervalMs)
          made++
          isStuck = false
        }
      }
      for (const connection of connections) connection.flush()
      if (made === this.#calls) clearInterval(timer)
    }, batchMs)
    await finished
    return (performance.now() - startMs) / 1000
  }

  answered(connection: Connection, code: AnswerCode, startedAtMs: number, nowMs: number): void {
    this.#inFlight.set(connection, (this.#inFlight.get(connection) ?? 1) - 1)
    this.#answers++
    this.tally.add(code, nowMs - startedAtMs)
    if (this.#answers === this.#calls) this.#finished()
  }
}
