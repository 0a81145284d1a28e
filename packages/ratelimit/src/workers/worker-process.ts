import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import type { StopSignal } from '@portcullis/service-kit/lifecycle'
import type { ListenerName } from '../app/primary.ts'
import type { Candidate } from './choose-worker.ts'
import type { FromWorker, StatisticsMessage, ToWorker } from './messages.ts'

type HandOver = Extract<ToWorker, { readonly kind: 'connection' | 'debug' }>

/** A connection on its way to a worker. */
export interface Parcel {
  readonly message: HandOver
  readonly socket: Socket
}

export interface WorkerEvents {
  onReady(): void
  onStatistics(message: StatisticsMessage): void
  /** Connections that it never got, because it was stuck or is gone. */
  onReturned(parcels: readonly Parcel[]): void
}

/** A worker that takes longer for a connection gets no more while there are others. */
const stuckMs = 1_000

/** Workers report several times a second, also when there is nothing to say. */
const silentMs = 5_000

const program = join(import.meta.dirname, 'worker-main.ts')
let turns = 0

/** One worker, from its start to its end. */
export class WorkerProcess implements Candidate {
  /** Its place among the workers, from 1; whoever replaces it has the same. */
  readonly number: number
  readonly startedMs = performance.now()
  /** Resolves when it is gone and its last message has been read. */
  readonly ended: Promise<void>
  lastTurn = 0
  isReady = false
  /** Why it could not start, where it said so. */
  failure: string | undefined
  readonly #child: ChildProcess
  readonly #events: WorkerEvents
  readonly #reports = new Map<number, () => void>()
  /** As it has told. */
  readonly #connections: Record<ListenerName, number> = { grpc: 0, http: 0, debug: 0 }
  readonly #unseen: Record<ListenerName, number> = { grpc: 0, http: 0, debug: 0 }
  #waiting: Parcel[] = []
  #onTheWay: Parcel | undefined
  #stopSignal: StopSignal | undefined
  #isStuck = false
  #stuckTimer: NodeJS.Timeout | undefined
  #lastHeardMs = performance.now()
  #reportId = 0

  constructor(
    number: number,
    start: Extract<ToWorker, { readonly kind: 'start' }>,
    events: WorkerEvents,
  ) {
    this.number = number
    this.#events = events
    // Statistics travel as typed arrays, and the configuration with its maps and patterns.
    this.#child = fork(program, [`${number}`], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
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
    this.send(start)
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  get exitCode(): number | null {
    return this.#child.exitCode
  }

  /** Whether it can be expected to take a connection at once. */
  get isResponsive(): boolean {
    return this.isReady && !this.#isStuck && performance.now() - this.#lastHeardMs < silentMs
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

  /** With those that it has not seen yet. */
  countConnections(listener: ListenerName): number {
    return this.#connections[listener] + this.#unseen[listener]
  }

  /** One at a time: what was not sent yet can still go to another worker. */
  hand(parcel: Parcel): void {
    this.#unseen[listenerOf(parcel)] += 1
    this.lastTurn = ++turns
    this.#waiting.push(parcel)
    this.#handNext()
  }

  /** Resolves when all that it has counted until now is in the sum, or when it is gone. */
  async report(): Promise<void> {
    const id = ++this.#reportId
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#reports.set(id, resolve)
    this.send({ kind: 'report', id })
    await promise
    this.#reports.delete(id)
  }

  /** It may have been asked and not answered; then there is no use in waiting for it again. */
  get owesReport(): boolean {
    return this.#reports.size > 0 && !this.isResponsive
  }

  #handNext(): void {
    if (this.#onTheWay !== undefined) return
    this.#onTheWay = this.#waiting.shift()
    if (this.#onTheWay === undefined) {
      this.#sendStop()
      return
    }
    const { message, socket } = this.#onTheWay
    // It stays open here until the worker has it: one that is killed in between would take it along,
    // and its caller would wait for ever.
    this.#child.send(message, socket, { keepOpen: true }, (error) => {
      if (error) this.#returnLast()
    })
    this.#stuckTimer = setTimeout(() => {
      this.#isStuck = true
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
    const parcels = this.#waiting
    this.#waiting = []
    for (const parcel of parcels) this.#unseen[listenerOf(parcel)] -= 1
    if (parcels.length > 0) this.#events.onReturned(parcels)
  }

  #take(message: FromWorker): void {
    this.#lastHeardMs = performance.now()
    if (message.kind === 'ready') {
      this.isReady = true
      this.#events.onReady()
    } else if (message.kind === 'failed') this.failure = message.reason
    else if (message.kind === 'adopted') this.#adopted()
    else if (message.kind === 'connections') this.#connections[message.listener] = message.count
    else if (message.kind === 'reported') this.#reports.get(message.id)?.()
    else this.#events.onStatistics(message)
  }

  #adopted(): void {
    clearTimeout(this.#stuckTimer)
    this.#isStuck = false
    if (this.#onTheWay !== undefined) {
      this.#unseen[listenerOf(this.#onTheWay)] -= 1
      // Only our copy: the connection is the worker's.
      this.#onTheWay.socket.destroy()
    }
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
    for (const resolve of this.#reports.values()) resolve()
    this.#returnLast()
  }
}

function listenerOf({ message }: Parcel): ListenerName {
  return message.kind === 'debug' ? 'debug' : message.listener
}

function ignore(): void {}
