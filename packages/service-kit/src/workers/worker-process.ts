import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { StopSignal } from '../lifecycle.ts'
import type { Candidate } from './choose-worker.ts'
import type { AddressCount, FromWorker, HandOver, Message, ToWorker } from './messages.ts'

export interface WorkerSettings<From extends Message> {
  /** The program that the worker runs; it calls `runWorkerProgram`. */
  readonly program: URL
  /** Its place among the workers, from 1; its replacement gets the same. */
  readonly number: number
  /** All that the worker has to know. */
  readonly start: unknown
  /** The file descriptor of the log. */
  readonly logFd: number
  /** A worker that has sent nothing for so long is not responsive. */
  readonly silentMs?: number | undefined
  readonly events: WorkerEvents<From>
}

export interface WorkerEvents<From extends Message> {
  onReady(): void
  /** Connections that never reached the worker, because it was stuck or has ended. */
  onReturned(transfers: readonly Transfer[]): void
  /** What not every worker sends. */
  onMessage(message: From): void
}

/** A connection on its way to a worker. */
export interface Transfer {
  readonly message: HandOver
  readonly socket: Socket
}

/** A worker that takes longer for a connection gets no more while there are others. */
const stuckMs = 1_000

let turns = 0

/**
 * One worker, from its start to its end, as the primary sees it. `PrimaryLink` is the other side.
 * @typeParam To what its primary sends, besides what every primary does.
 * @typeParam From what it sends, besides what every worker does.
 */
export class WorkerProcess<To extends Message = Message, From extends Message = Message>
  implements Candidate
{
  readonly number: number
  readonly startedMs = performance.now()
  /** Resolves when the process has ended and its last message has been read. */
  readonly ended: Promise<void>
  isReady = false
  /** Why it could not start, where it said so. */
  failure: string | undefined
  lastTurn = 0
  readonly #child: ChildProcess
  readonly #events: WorkerEvents<From>
  readonly #silentMs: number
  /** Connections that were handed over and have not arrived yet, by listener. */
  readonly #unseen = new Map<string, number>()
  /** Connections that it has reported, by listener and by address. */
  readonly #open = new Map<string, number>()
  readonly #addresses = new Map<string, number>()
  #lastHeardMs = performance.now()
  #waiting: Transfer[] = []
  #onTheWay: Transfer | undefined
  #stopSignal: StopSignal | undefined
  #isStuck = false
  #stuckTimer: NodeJS.Timeout | undefined

  constructor(settings: WorkerSettings<From>) {
    const { program, number, start, logFd, silentMs = Number.POSITIVE_INFINITY, events } = settings
    this.number = number
    this.#events = events
    this.#silentMs = silentMs
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

  get pid(): number {
    return this.#child.pid ?? 0
  }

  get exitCode(): number | null {
    return this.#child.exitCode
  }

  /** Whether it can be expected to take a connection at once. */
  get isResponsive(): boolean {
    const isSilent = performance.now() - this.#lastHeardMs >= this.#silentMs
    return this.isReady && !this.#isStuck && !isSilent
  }

  /** `exit code 1`, or the signal that killed it. */
  get howEnded(): string {
    const { exitCode, signalCode } = this.#child
    return signalCode === null ? `exit code ${exitCode}` : `killed by ${signalCode}`
  }

  countConnections(listener?: string): number {
    if (listener !== undefined) return get(this.#open, listener) + get(this.#unseen, listener)
    const counts = [...this.#open.values(), ...this.#unseen.values()]
    return counts.reduce((sum, count) => sum + count, 0)
  }

  /** Connections of an address, where there is a limit for them. */
  countAddress(address: string): number {
    return get(this.#addresses, address)
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
  hand(transfer: Transfer): void {
    this.#countUnseen(transfer, 1)
    this.lastTurn = ++turns
    this.#waiting.push(transfer)
    this.#handNext()
  }

  #countUnseen({ message: { listener } }: Transfer, by: 1 | -1): void {
    this.#unseen.set(listener, get(this.#unseen, listener) + by)
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

  /** The worker has ended, and the socket that could not be sent is still here. */
  #returnLast(): void {
    this.isReady = false
    if (this.#onTheWay !== undefined) this.#waiting.unshift(this.#onTheWay)
    this.#onTheWay = undefined
    this.#returnWaiting()
  }

  #returnWaiting(): void {
    const transfers = this.#waiting
    this.#waiting = []
    for (const transfer of transfers) this.#countUnseen(transfer, -1)
    if (transfers.length > 0) this.#events.onReturned(transfers)
  }

  #hear(message: FromWorker | From): void {
    this.#lastHeardMs = performance.now()
    if (!isFromEveryWorker(message)) this.#events.onMessage(message)
    else if (message.kind === 'failed') this.failure = message.reason
    else if (message.kind === 'adopted') this.#onAdopted(message)
    else if (message.kind === 'connections') this.#open.set(message.listener, message.count)
    else if (message.kind === 'address') this.#setAddress(message)
    else {
      this.isReady = true
      this.#events.onReady()
    }
  }

  #setAddress({ address, count }: AddressCount): void {
    if (count === 0) this.#addresses.delete(address)
    else this.#addresses.set(address, count)
  }

  #onAdopted({ count, address }: Extract<FromWorker, { kind: 'adopted' }>): void {
    clearTimeout(this.#stuckTimer)
    this.#isStuck = false
    if (this.#onTheWay !== undefined) {
      this.#countUnseen(this.#onTheWay, -1)
      this.#open.set(this.#onTheWay.message.listener, count)
      if (address !== undefined) this.#setAddress(address)
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

const kinds: ReadonlySet<string> = new Set<FromWorker['kind']>([
  'ready',
  'failed',
  'adopted',
  'connections',
  'address',
])

function isFromEveryWorker(message: Message): message is FromWorker {
  return kinds.has(message.kind)
}

function get(counts: ReadonlyMap<string, number>, name: string): number {
  return counts.get(name) ?? 0
}

function ignore(): void {}
