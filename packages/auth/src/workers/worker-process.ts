import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import type { StopSignal } from '@portcullis/service-kit/lifecycle'
import type { Admitted, FromWorker, ToWorker, WorkerStart } from './messages.ts'

export interface WorkerEvents {
  onReady(): void
  /** It let requests pass. */
  onAdmitted(counts: readonly Admitted[]): void
  /** Connections that it never got, because it was stuck or is gone. */
  onReturned(sockets: readonly Socket[]): void
}

/** A worker that takes longer for a connection gets no more while there are others. */
const stuckMs = 1_000

const program = join(import.meta.dirname, 'worker-main.ts')
let turns = 0

/** One worker, from its start to its end. */
export class WorkerProcess {
  /** Its place among the workers, from 1; whoever replaces it has the same. */
  readonly number: number
  readonly startedMs = performance.now()
  /** Resolves when it is gone and its last message has been read. */
  readonly ended: Promise<void>
  isReady = false
  /** It has not taken its last connection yet, and that for too long. */
  isStuck = false
  /** Why it could not start, where it said so. */
  failure: string | undefined
  /** With those that it has not seen yet. */
  connectionCount = 0
  /** When it got its last connection; a number that only grows. */
  lastTurn = 0
  readonly #child: ChildProcess
  readonly #events: WorkerEvents
  #waiting: Socket[] = []
  #onTheWay: Socket | undefined
  #stopSignal: StopSignal | undefined
  #stuckTimer: NodeJS.Timeout | undefined

  /** @param logFd where it writes its log. */
  constructor(start: WorkerStart, logFd: number, events: WorkerEvents) {
    this.number = start.number
    this.#events = events
    // The configuration travels with what JSON has no word for.
    this.#child = fork(program, [`${start.number}`], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', logFd, 'ipc'],
    })
    // A message that cannot be sent is followed by the end of the process.
    this.#child.on('error', () => {})
    this.#child.on('message', (message: FromWorker) => this.#take(message))
    for (const event of ['disconnect', 'exit']) {
      this.#child.once(event, () => {
        this.isReady = false
      })
    }
    this.ended = this.#watchEnd()
    this.send({ kind: 'start', start })
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  get exitCode(): number | null {
    return this.#child.exitCode
  }

  /** `exit code 1`, or the signal that killed it. */
  get howEnded(): string {
    const { exitCode, signalCode } = this.#child
    return signalCode === null ? `exit code ${exitCode}` : `killed by ${signalCode}`
  }

  send(message: ToWorker): void {
    if (this.#child.connected) this.#child.send(message, ignore)
  }

  /** After the connections that are on their way: they are served as well. */
  stop(signal: StopSignal): void {
    this.#stopSignal = signal
    this.#handNext()
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }

  /** One at a time: what was not sent yet can still go to another worker. */
  hand(socket: Socket): void {
    this.connectionCount += 1
    this.lastTurn = ++turns
    this.#waiting.push(socket)
    this.#handNext()
  }

  #handNext(): void {
    if (this.#onTheWay !== undefined) return
    this.#onTheWay = this.#waiting.shift()
    if (this.#onTheWay === undefined) {
      this.#sendStop()
      return
    }
    // It stays open here until the worker has it: one that is killed in between would take it along,
    // and its client would wait for ever.
    this.#child.send({ kind: 'connection' }, this.#onTheWay, { keepOpen: true }, (error) => {
      if (error) this.#returnLast()
    })
    this.#stuckTimer = setTimeout(() => {
      this.isStuck = true
      this.#returnWaiting()
      this.#sendStop()
    }, stuckMs).unref()
  }

  #sendStop(): void {
    if (this.#stopSignal !== undefined) this.send({ kind: 'stop', signal: this.#stopSignal })
  }

  /** It is gone, and what could not be sent is still here. */
  #returnLast(): void {
    this.isReady = false
    if (this.#onTheWay !== undefined) this.#waiting.unshift(this.#onTheWay)
    this.#onTheWay = undefined
    this.#returnWaiting()
  }

  #returnWaiting(): void {
    const sockets = this.#waiting
    this.#waiting = []
    this.connectionCount -= sockets.length
    if (sockets.length > 0) this.#events.onReturned(sockets)
  }

  #take(message: FromWorker): void {
    if (message.kind === 'ready') {
      this.isReady = true
      this.#events.onReady()
    } else if (message.kind === 'failed') this.failure = message.reason
    else if (message.kind === 'adopted') this.#adopted()
    else if (message.kind === 'closed') this.connectionCount -= 1
    else this.#events.onAdmitted(message.counts)
  }

  #adopted(): void {
    clearTimeout(this.#stuckTimer)
    this.isStuck = false
    // Only our copy: the connection is the worker's.
    this.#onTheWay?.destroy()
    this.#onTheWay = undefined
    this.#handNext()
  }

  async #watchEnd(): Promise<void> {
    // What it has sent before its end is read before the channel is closed.
    const closed = once(this.#child, 'disconnect').catch(ignore)
    await new Promise<void>((resolve) => {
      this.#child.once('exit', () => resolve())
      // There was no process to begin with.
      this.#child.once('error', () => {
        if (this.#child.pid === undefined) resolve()
      })
    })
    if (this.#child.connected) await closed
    clearTimeout(this.#stuckTimer)
    this.#returnLast()
  }
}

function ignore(): void {}
