import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../log/log.ts'
import type { StopSignal } from '../process/lifecycle.ts'
import { chooseWorker } from './choose-worker.ts'
import type { Message } from './messages.ts'
import { Restarts } from './restarts.ts'
import { type Transfer, WorkerProcess, type WorkerSettings } from './worker-process.ts'

export interface PoolSettings<To extends Message, From extends Message>
  extends Pick<WorkerSettings<From>, 'program' | 'logFd' | 'silentMs'> {
  readonly size: number
  /** The start data of the worker with that number. */
  readonly toStart: (number: number) => unknown
  readonly onMessage: (worker: WorkerProcess<To, From>, message: From) => void
  /** Called when a worker has ended unexpectedly while the others continue. */
  readonly onLost?: (worker: WorkerProcess<To, From>) => void
  /** Called when a worker has ended for any reason, after its last message. */
  readonly onEnded?: (worker: WorkerProcess<To, From>) => void
  readonly log: Pick<Log, 'error' | 'warning' | 'info'>
  /** Called when no worker is left and none can be started. */
  readonly onPermanentFailure: (error: Error) => void
}

/** How many connections may wait while no worker is available. */
const mostWaiting = 4_096

/** How long workers have to close everything when there is nothing to drain. */
const closeMs = 1_000

/** A fixed number of workers, each of which is replaced when it is lost. */
export class Pool<To extends Message, From extends Message> implements AsyncDisposable {
  readonly #settings: PoolSettings<To, From>
  readonly #workers = new Set<WorkerProcess<To, From>>()
  readonly #restarts = new Map<number, Restarts>()
  readonly #ready = Promise.withResolvers<void>()
  readonly #stopped = new AbortController()
  #waiting: Transfer[] = []
  #hasStarted = false
  #stopFailure: string | undefined

  constructor(settings: PoolSettings<To, From>) {
    this.#settings = settings
    // Stopping a server during its start must not cause an unhandled rejection.
    this.#ready.promise.catch(() => {})
    for (let number = 1; number <= settings.size; number += 1) this.#start(number)
  }

  /**
   * Resolves when all workers are ready; rejects with the reason of the first that cannot start.
   */
  get ready(): Promise<void> {
    return this.#ready.promise
  }

  /** The running workers, by their number. */
  get workers(): readonly WorkerProcess<To, From>[] {
    return [...this.#workers].sort((a, b) => a.number - b.number)
  }

  /**
   * Hands over a connection, of which nothing was read, to the worker with the fewest connections.
   */
  serve(listener: string, socket: Socket): void {
    // A client may disconnect while it waits.
    socket.on('error', () => {})
    this.#hand({ message: { kind: 'connection', listener }, socket })
  }

  /** Stops the workers and resolves when all have ended. */
  async stop(signal: StopSignal): Promise<void> {
    this.#stopped.abort()
    this.#ready.reject(new Error('The server was stopped'))
    for (const { socket } of this.#waiting) socket.destroy()
    this.#waiting = []
    const { workers } = this
    for (const worker of workers) worker.stop(signal)
    await Promise.all(workers.map(({ ended }) => ended))
    if (this.#stopFailure !== undefined) throw new Error(this.#stopFailure)
  }

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
    const { program, logFd, silentMs, toStart, onMessage, onEnded } = this.#settings
    const worker = new WorkerProcess<To, From>({
      program,
      number,
      start: toStart(number),
      logFd,
      silentMs,
      events: {
        onReady: () => this.#onReady(worker),
        onReturned: (transfers) => {
          for (const transfer of transfers) this.#hand(transfer)
        },
        onMessage: (message) => onMessage(worker, message),
      },
    })
    this.#workers.add(worker)
    void worker.ended.then(() => {
      this.#workers.delete(worker)
      onEnded?.(worker)
      this.#onEnded(worker)
    })
  }

  #hand(transfer: Transfer): void {
    const ready = this.workers.filter(({ isReady }) => isReady)
    const responsive = ready.filter(({ isResponsive }) => isResponsive)
    const { listener } = transfer.message
    const worker = chooseWorker(responsive.length > 0 ? responsive : ready, listener)
    if (this.#stopped.signal.aborted) transfer.socket.destroy()
    else if (worker !== undefined) worker.hand(transfer)
    else if (this.#waiting.length < mostWaiting) this.#waiting.push(transfer)
    else transfer.socket.destroy()
  }

  #onReady(worker: WorkerProcess<To, From>): void {
    this.#restartsOf(worker.number).started()
    // Logged at the same level as the loss, so that both are visible in the log.
    const level = this.#hasStarted ? 'warning' : 'info'
    this.#settings.log[level](`Worker ${worker.number} (pid ${worker.pid}) is ready`)
    if (!this.#hasStarted && this.workers.every(({ isReady }) => isReady)) {
      this.#hasStarted = true
      this.#ready.resolve()
    }
    const waiting = this.#waiting
    this.#waiting = []
    for (const transfer of waiting) this.#hand(transfer)
  }

  #onEnded(worker: WorkerProcess<To, From>): void {
    const { log, onPermanentFailure, onLost } = this.#settings
    const { number, pid, howEnded, failure } = worker
    const name = `Worker ${number} (pid ${pid})`
    if (this.#stopped.signal.aborted) {
      if (worker.exitCode !== 0) this.#stopFailure ??= `${name} ended during shutdown: ${howEnded}`
      return
    }
    if (!this.#hasStarted) {
      // The other workers would fail for the same reason.
      this.#stopped.abort()
      this.#ready.reject(new Error(failure ?? `${name} ended during its start: ${howEnded}`))
      return
    }
    onLost?.(worker)
    const restarts = this.#restartsOf(number)
    const delayMs = restarts.toDelayMs(performance.now() - worker.startedMs)
    const reason = failure === undefined ? howEnded : `it cannot start: ${failure}`
    if (this.#workers.size === 0 && restarts.hasPermanentFailure) {
      onPermanentFailure(new Error(`${name} was lost (${reason}), and no other worker is left`))
      return
    }
    const when = delayMs === 0 ? 'starting a replacement' : `retrying in ${delayMs} ms`
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
