import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { StopSignal } from '../lifecycle.ts'
import type { Log } from '../log.ts'
import { chooseWorker } from './choose-worker.ts'
import { Restarts } from './restarts.ts'
import type { Parcel, WorkerEvents, WorkerProcess } from './worker-process.ts'

export interface PoolSettings<Worker extends WorkerProcess> {
  readonly size: number
  /** Starts the worker with that number. */
  readonly start: (number: number, events: WorkerEvents) => Worker
  /** It is gone though it should not be, and the others go on. */
  readonly onLost?: (worker: Worker) => void
  readonly log: Pick<Log, 'error' | 'warning' | 'info'>
  /** The server cannot go on: no worker is left and none can be started. */
  readonly onHopeless: (error: Error) => void
}

/** How many connections may wait while there is no worker to take them. */
const mostWaiting = 4_096

/** How long workers have to close everything when there is nothing to drain. */
const closeMs = 1_000

/** The workers: as many as there should be, each replaced when it is lost. */
export class Pool<Worker extends WorkerProcess> implements AsyncDisposable {
  readonly #settings: PoolSettings<Worker>
  readonly #workers = new Set<Worker>()
  readonly #restarts = new Map<number, Restarts>()
  readonly #ready = Promise.withResolvers<void>()
  readonly #stopped = new AbortController()
  #waiting: Parcel[] = []
  #hasStarted = false
  #exitCode = 0

  constructor(settings: PoolSettings<Worker>) {
    this.#settings = settings
    // Whoever stops a server that still starts need not wait for it.
    this.#ready.promise.catch(() => {})
    for (let number = 1; number <= settings.size; number += 1) this.#start(number)
  }

  /** Resolves when all workers can serve; rejects with the reason of the first that cannot. */
  get ready(): Promise<void> {
    return this.#ready.promise
  }

  /** Those that run, by their number. */
  get workers(): readonly Worker[] {
    return [...this.#workers].sort((a, b) => a.number - b.number)
  }

  /** Hands a connection, of which nothing was read, to the worker that has the fewest. */
  serve(listener: string, socket: Socket): void {
    // A client that leaves while it waits is none of our worries.
    socket.on('error', () => {})
    this.#hand({ message: { kind: 'connection', listener }, socket })
  }

  /** Resolves when all workers have ended by themselves. */
  async stop(signal: StopSignal): Promise<void> {
    this.#stopped.abort()
    this.#ready.reject(new Error('The server was stopped'))
    for (const { socket } of this.#waiting) socket.destroy()
    this.#waiting = []
    const { workers } = this
    for (const worker of workers) worker.stop(signal)
    await Promise.all(workers.map(({ ended }) => ended))
    if (this.#exitCode !== 0) throw new Error('a worker did not end as it should')
  }

  /** Leaves no process behind. */
  kill(): void {
    this.#stopped.abort()
    for (const worker of this.#workers) worker.kill()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const timer = setTimeout(() => this.kill(), closeMs)
    await this.stop('SIGINT').catch(() => {})
    clearTimeout(timer)
  }

  #start(number: number): void {
    const worker = this.#settings.start(number, {
      onReady: () => this.#onReady(worker),
      onReturned: (parcels) => {
        for (const parcel of parcels) this.#hand(parcel)
      },
    })
    this.#workers.add(worker)
    void worker.ended.then(() => {
      this.#workers.delete(worker)
      this.#onEnded(worker)
    })
  }

  #hand(parcel: Parcel): void {
    const ready = this.workers.filter(({ isReady }) => isReady)
    const responsive = ready.filter(({ isResponsive }) => isResponsive)
    const { listener } = parcel.message
    const worker = chooseWorker(responsive.length > 0 ? responsive : ready, listener)
    if (this.#stopped.signal.aborted) parcel.socket.destroy()
    else if (worker !== undefined) worker.hand(parcel)
    else if (this.#waiting.length < mostWaiting) this.#waiting.push(parcel)
    else parcel.socket.destroy()
  }

  #onReady(worker: Worker): void {
    this.#restartsOf(worker.number).wentWell()
    // After a loss people who saw that should see this as well.
    const level = this.#hasStarted ? 'warning' : 'info'
    this.#settings.log[level](`Worker ${worker.number} (pid ${worker.pid}) serves`)
    if (!this.#hasStarted && this.workers.every(({ isReady }) => isReady)) {
      this.#hasStarted = true
      this.#ready.resolve()
    }
    const waiting = this.#waiting
    this.#waiting = []
    for (const parcel of waiting) this.#hand(parcel)
  }

  #onEnded(worker: Worker): void {
    const { log, onHopeless, onLost } = this.#settings
    if (this.#stopped.signal.aborted) {
      if (worker.exitCode !== 0) this.#exitCode = 1
      return
    }
    const { number, pid, howEnded, failure } = worker
    const name = `Worker ${number} (pid ${pid})`
    if (!this.#hasStarted) {
      // The others would say the same.
      this.#stopped.abort()
      this.#ready.reject(new Error(failure ?? `${name} ended while it started: ${howEnded}`))
      return
    }
    onLost?.(worker)
    const restarts = this.#restartsOf(number)
    const delayMs = restarts.toDelayMs(performance.now() - worker.startedMs)
    const reason = failure === undefined ? howEnded : `it cannot start: ${failure}`
    if (this.#workers.size === 0 && restarts.isHopeless) {
      onHopeless(new Error(`${name} was lost (${reason}), and no other worker is left`))
      return
    }
    const when = delayMs === 0 ? 'another one takes its place' : `the next try is in ${delayMs} ms`
    log.error(`${name} was lost: ${reason}; ${when}`)
    sleep(delayMs, undefined, { signal: this.#stopped.signal }).then(
      () => this.#start(number),
      () => undefined,
    )
  }

  #restartsOf(number: number): Restarts {
    const known = this.#restarts.get(number) ?? new Restarts()
    this.#restarts.set(number, known)
    return known
  }
}
