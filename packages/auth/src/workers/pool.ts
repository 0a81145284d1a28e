import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { StopSignal } from '@portcullis/service-kit/lifecycle'
import type { Log } from '@portcullis/service-kit/log'
import { Restarts } from '@portcullis/service-kit/restarts'
import type { WorkerStart } from './messages.ts'
import { WorkerProcess } from './worker-process.ts'

export interface PoolSettings {
  /** The same for all but their number. */
  readonly start: Omit<WorkerStart, 'number'>
  /** Where the workers write their log. */
  readonly logFd: number
  readonly log: Pick<Log, 'error' | 'warning' | 'info'>
  /** The server cannot go on: no worker is left and none can be started. */
  readonly onHopeless: (error: Error) => void
}

/** How many connections may wait while there is no worker to take them. */
const mostWaiting = 4_096

/** How long workers have to close everything when there is nothing to drain. */
const closeMs = 1_000

/** The workers: as many as there should be, each replaced when it is lost. */
export class Pool implements AsyncDisposable {
  readonly #settings: PoolSettings
  readonly #workers = new Set<WorkerProcess>()
  readonly #restarts = new Map<number, Restarts>()
  readonly #ready = Promise.withResolvers<void>()
  readonly #stopped = new AbortController()
  #waiting: Socket[] = []
  #hasStarted = false
  #exitCode = 0

  constructor(settings: PoolSettings) {
    this.#settings = settings
    // Whoever stops a server that still starts need not wait for it.
    this.#ready.promise.catch(() => {})
    for (let number = 1; number <= settings.start.size; number += 1) this.#start(number)
  }

  /** Resolves when all workers can serve; rejects with the reason of the first that cannot. */
  get ready(): Promise<void> {
    return this.#ready.promise
  }

  /** Hands a connection, of which nothing was read, to the worker that has the fewest. */
  hand(socket: Socket): void {
    const ready = [...this.#workers].filter(({ isReady }) => isReady)
    const able = ready.filter(({ isStuck }) => !isStuck)
    const worker = chooseWorker(able.length > 0 ? able : ready)
    if (this.#stopped.signal.aborted) socket.destroy()
    else if (worker !== undefined) worker.hand(socket)
    else if (this.#waiting.length < mostWaiting) this.#waiting.push(socket)
    else socket.destroy()
  }

  /** Resolves when all workers have ended by themselves. */
  async stop(signal: StopSignal): Promise<void> {
    this.#stopped.abort()
    this.#ready.reject(new Error('The server was stopped'))
    for (const socket of this.#waiting) socket.destroy()
    this.#waiting = []
    const workers = [...this.#workers]
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
    const { start, logFd } = this.#settings
    const worker = new WorkerProcess({ ...start, number }, logFd, {
      onReady: () => this.#onReady(worker),
      onAdmitted: (counts) => {
        for (const other of this.#workers) {
          if (other !== worker && other.isReady) other.send({ kind: 'admitted', counts })
        }
      },
      onReturned: (sockets) => {
        for (const socket of sockets) this.hand(socket)
      },
    })
    this.#workers.add(worker)
    void worker.ended.then(() => {
      this.#workers.delete(worker)
      this.#onEnded(worker)
    })
  }

  #onReady(worker: WorkerProcess): void {
    this.#restartsOf(worker.number).wentWell()
    // After a loss people who saw that should see this as well.
    const level = this.#hasStarted ? 'warning' : 'info'
    this.#settings.log[level](`Worker ${worker.number} (pid ${worker.pid}) serves`)
    if (!this.#hasStarted && [...this.#workers].every(({ isReady }) => isReady)) {
      this.#hasStarted = true
      this.#ready.resolve()
    }
    const waiting = this.#waiting
    this.#waiting = []
    for (const socket of waiting) this.hand(socket)
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

/**
 * The one with the fewest connections, then whoever has waited longest. A gateway keeps its
 * connections for hours: turns alone would leave workers with nothing to do after some have ended.
 */
function chooseWorker(workers: readonly WorkerProcess[]): WorkerProcess | undefined {
  return workers.toSorted(
    (a, b) => a.connectionCount - b.connectionCount || a.lastTurn - b.lastTurn,
  )[0]
}
