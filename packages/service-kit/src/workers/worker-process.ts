import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { StopSignal } from '../lifecycle.ts'
import type { Candidate } from './choose-worker.ts'
import type { FromWorker, HandOver, Message, ToWorker } from './messages.ts'

export interface WorkerSettings {
  /** The path of the program; it calls `runWorkerProgram`. */
  readonly program: string
  /** Its place among the workers, from 1; whoever replaces it has the same. */
  readonly number: number
  /** All that it has to know. */
  readonly start: unknown
  /** Where it writes its log. */
  readonly logFd: number
  readonly events: WorkerEvents
}

export interface WorkerEvents {
  onReady(): void
  /** Connections that it never got, because it was stuck or is gone. */
  onReturned(parcels: readonly Parcel[]): void
}

/** A connection on its way to a worker. */
export interface Parcel {
  readonly message: HandOver
  readonly socket: Socket
}

/** A worker that takes longer for a connection gets no more while there are others. */
const stuckMs = 1_000

let turns = 0

/**
 * One worker, from its start to its end.
 * @typeParam To what its primary tells it, besides what every primary does.
 * @typeParam From what it tells, besides what every worker does.
 */
export abstract class WorkerProcess<To extends Message = Message, From extends Message = Message>
  implements Candidate
{
  readonly number: number
  readonly startedMs = performance.now()
  /** Resolves when it is gone and its last message has been read. */
  readonly ended: Promise<void>
  isReady = false
  /** Why it could not start, where it said so. */
  failure: string | undefined
  lastTurn = 0
  /** When it said something, whatever it was. */
  protected lastHeardMs = performance.now()
  /** The connections that it has taken, ever. */
  protected adoptedCount = 0
  readonly #child: ChildProcess
  readonly #events: WorkerEvents
  readonly #unseen = new Map<string, number>()
  #waiting: Parcel[] = []
  #onTheWay: Parcel | undefined
  #stopSignal: StopSignal | undefined
  #isStuck = false
  #stuckTimer: NodeJS.Timeout | undefined

  constructor({ program, number, start, logFd, events }: WorkerSettings) {
    this.number = number
    this.#events = events
    // Configurations have maps and patterns, and statistics typed arrays: JSON has no word for them.
    this.#child = fork(program, [`${number}`], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', logFd, 'ipc'],
    })
    // A message that cannot be sent is followed by the end of the process.
    this.#child.on('error', () => {})
    this.#child.on('message', (message: FromWorker | From) => this.#hear(message))
    for (const event of ['disconnect', 'exit']) {
      this.#child.once(event, () => {
        this.isReady = false
      })
    }
    this.ended = this.#watchEnd()
    this.#send({ kind: 'start', start })
  }

  /** With those that it has not seen yet. */
  abstract countConnections(listener?: string): number

  /** What not every worker tells. */
  protected abstract take(message: From): void

  get pid(): number {
    return this.#child.pid ?? 0
  }

  get exitCode(): number | null {
    return this.#child.exitCode
  }

  /** Whether it can be expected to take a connection at once. */
  get isResponsive(): boolean {
    return this.isReady && !this.#isStuck
  }

  /** `exit code 1`, or the signal that killed it. */
  get howEnded(): string {
    const { exitCode, signalCode } = this.#child
    return signalCode === null ? `exit code ${exitCode}` : `killed by ${signalCode}`
  }

  send(message: To): void {
    this.#send(message)
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
  hand(parcel: Parcel): void {
    this.#countUnseen(parcel, 1)
    this.lastTurn = ++turns
    this.#waiting.push(parcel)
    this.#handNext()
  }

  /** The connections that were handed to it and that it has not taken yet. */
  protected countUnseen(listener: string): number {
    return this.#unseen.get(listener) ?? 0
  }

  #countUnseen({ message: { listener } }: Parcel, by: 1 | -1): void {
    this.#unseen.set(listener, this.countUnseen(listener) + by)
  }

  #send(message: ToWorker | To): void {
    if (this.#child.connected) this.#child.send(message, ignore)
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
    // and its client would wait for ever.
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
    if (this.#stopSignal !== undefined) this.#send({ kind: 'stop', signal: this.#stopSignal })
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
    for (const parcel of parcels) this.#countUnseen(parcel, -1)
    if (parcels.length > 0) this.#events.onReturned(parcels)
  }

  #hear(message: FromWorker | From): void {
    this.lastHeardMs = performance.now()
    if (!isFromEveryWorker(message)) this.take(message)
    else if (message.kind === 'failed') this.failure = message.reason
    else if (message.kind === 'adopted') this.#onAdopted()
    else {
      this.isReady = true
      this.#events.onReady()
    }
  }

  #onAdopted(): void {
    clearTimeout(this.#stuckTimer)
    this.#isStuck = false
    if (this.#onTheWay !== undefined) {
      this.#countUnseen(this.#onTheWay, -1)
      this.adoptedCount += 1
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
    this.#returnLast()
  }
}

const kinds: ReadonlySet<string> = new Set<FromWorker['kind']>(['ready', 'failed', 'adopted'])

function isFromEveryWorker(message: Message): message is FromWorker {
  return kinds.has(message.kind)
}

function ignore(): void {}
