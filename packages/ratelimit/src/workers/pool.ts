import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { StopSignal } from '@portcullis/service-kit/lifecycle'
import type { Log } from '@portcullis/service-kit/log'
import { Restarts } from '@portcullis/service-kit/restarts'
import type { Config } from '../config.ts'
import { chooseWorker } from './choose-worker.ts'
import type { StatisticsSum, WorkerPart } from './statistics-sum.ts'
import { type Parcel, WorkerProcess } from './worker-process.ts'

export interface PoolSettings {
  readonly config: Config
  readonly log: Log
  readonly sum: StatisticsSum
  /** The service cannot go on: no worker is left and none can be started. */
  readonly onHopeless: (error: Error) => void
}

/** How long a page or a sink waits for the latest numbers. */
const refreshMs = 500

/** How many connections may wait while there is no worker to take them. */
const mostWaiting = 4_096

/** How long workers have to close everything when there is nothing to drain. */
const closeMs = 1_000

/** The workers: as many as there should be, each replaced when it is lost. */
export class Pool implements AsyncDisposable {
  readonly #settings: PoolSettings
  /** With what each has told about statistics. */
  readonly #parts = new Map<WorkerProcess, WorkerPart>()
  readonly #restarts = new Map<number, Restarts>()
  readonly #ready = Promise.withResolvers<void>()
  readonly #stopped = new AbortController()
  #waiting: Parcel[] = []
  #hasStarted = false
  #speaker: WorkerProcess | undefined
  #exitCode = 0

  constructor(settings: PoolSettings) {
    this.#settings = settings
    // Whoever stops a service that still starts need not wait for it.
    this.#ready.promise.catch(() => {})
    for (let number = 1; number <= settings.config.workers; number += 1) this.#start(number)
  }

  /** Resolves when all workers can serve; rejects with the reason of the first that cannot. */
  get ready(): Promise<void> {
    return this.#ready.promise
  }

  /** Those that run, by their number. */
  get workers(): readonly WorkerProcess[] {
    return [...this.#parts.keys()].sort((a, b) => a.number - b.number)
  }

  /** Hands a connection to the worker that has the fewest. */
  serve(listener: 'grpc' | 'http', socket: Socket): void {
    // A client that leaves while it waits is none of our worries.
    socket.on('error', () => {})
    this.#hand({ message: { kind: 'connection', listener }, socket })
  }

  /** Fetches what is new from all workers; one that hangs is not waited for. */
  async refresh(): Promise<void> {
    const asked = this.workers.filter(({ isReady, owesReport }) => isReady && !owesReport)
    if (asked.length === 0) return
    const enough = new AbortController()
    const tooLate = sleep(refreshMs, undefined, { signal: enough.signal }).catch(() => undefined)
    await Promise.race([Promise.all(asked.map((worker) => worker.report())), tooLate])
    enough.abort()
  }

  /** The service is to end soon: workers are unhealthy from now on, and serve on. */
  terminate(): void {
    for (const worker of this.workers) worker.send({ kind: 'terminating' })
  }

  /** Resolves when all workers have ended by themselves. */
  async stop(signal: StopSignal): Promise<void> {
    this.#stopped.abort()
    this.#ready.reject(new Error('The service was stopped'))
    for (const { socket } of this.#waiting) socket.destroy()
    this.#waiting = []
    for (const worker of this.workers) worker.stop(signal)
    await Promise.all(this.workers.map(({ ended }) => ended))
    if (this.#exitCode !== 0) throw new Error('a worker did not end as it should')
  }

  /** Leaves no process behind. */
  kill(): void {
    this.#stopped.abort()
    for (const worker of this.workers) worker.kill()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const timer = setTimeout(() => this.kill(), closeMs)
    await this.stop('SIGINT').catch(() => {})
    clearTimeout(timer)
  }

  #start(number: number): void {
    const { config, sum } = this.#settings
    const isSpeaker = this.#speaker === undefined
    const part = sum.openPart(isSpeaker)
    const worker = new WorkerProcess(
      number,
      { kind: 'start', config, isSpeaker },
      {
        onReady: () => this.#onReady(worker),
        onStatistics: (message) => sum.take(part, message),
        onReturned: (parcels) => {
          for (const parcel of parcels) this.#hand(parcel)
        },
      },
    )
    this.#parts.set(worker, part)
    if (isSpeaker) this.#speaker = worker
    void worker.ended.then(() => {
      this.#parts.delete(worker)
      sum.closePart(part)
      this.#onEnded(worker)
    })
  }

  #onReady(worker: WorkerProcess): void {
    this.#restartsOf(worker.number).wentWell()
    if (this.#hasStarted) {
      this.#settings.log.warning(`Worker ${worker.number} (pid ${worker.pid}) serves`)
    } else if (this.workers.every(({ isReady }) => isReady)) {
      this.#hasStarted = true
      this.#ready.resolve()
    }
    const waiting = this.#waiting
    this.#waiting = []
    for (const parcel of waiting) this.#hand(parcel)
  }

  #onEnded(worker: WorkerProcess): void {
    const { log, onHopeless } = this.#settings
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
    if (this.#speaker === worker) this.#appointSpeaker()
    const restarts = this.#restartsOf(number)
    const delayMs = restarts.toDelayMs(performance.now() - worker.startedMs)
    const reason = failure === undefined ? howEnded : `it cannot start: ${failure}`
    if (this.#parts.size === 0 && restarts.isHopeless) {
      onHopeless(new Error(`${name} was lost (${reason}), and no other worker is left`))
      return
    }
    const when = delayMs === 0 ? 'another one takes its place' : `the next try is in ${delayMs} ms`
    log.error(`${name} was lost: ${reason}; ${when}`)
    this.#restart(number, delayMs)
  }

  #restart(number: number, delayMs: number): void {
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

  /** The one that is there longest knows the rules best. */
  #appointSpeaker(): void {
    const [oldest] = [...this.#parts].sort(([a], [b]) => a.startedMs - b.startedMs)
    this.#speaker = oldest?.[0]
    if (oldest === undefined) return
    const [worker, part] = oldest
    part.isSpeaker = true
    worker.send({ kind: 'speak' })
  }

  #hand(parcel: Parcel): void {
    const { message } = parcel
    const ready = this.workers.filter(({ isReady }) => isReady)
    const responsive = ready.filter(({ isResponsive }) => isResponsive)
    const listener = message.kind === 'debug' ? 'debug' : message.listener
    const worker = chooseWorker(responsive.length > 0 ? responsive : ready, listener)
    if (worker !== undefined && !this.#stopped.signal.aborted) worker.hand(parcel)
    else if (!this.#stopped.signal.aborted && this.#waiting.length < mostWaiting)
      this.#waiting.push(parcel)
    else parcel.socket.destroy()
  }
}
