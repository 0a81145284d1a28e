import { type ChildProcess, fork } from 'node:child_process'
import type { Socket } from 'node:net'
import type { StopSignal } from '../process/lifecycle.ts'
import type { Candidate } from './choose-worker.ts'
import type { AddressCount, FromWorker, HandOver, Message, ToWorker } from './messages.ts'

export interface WorkerSettings<From extends Message> {
  /** The program that the worker runs; it calls `runWorkerProgram`. */
  readonly program: URL
  /** Its number among the workers, from 1; its replacement gets the same number. */
  readonly number: number
  /** The start data of the worker. */
  readonly start: unknown
  /** The file descriptor of the log. */
  readonly logFd: number
  /** A worker that has sent nothing for this long is not responsive. */
  readonly silentMs?: number | undefined
  readonly events: WorkerEvents<From>
}

export interface WorkerEvents<From extends Message> {
  onReady(): void
  /** Called with connections that never reached the worker, because it was stuck or has ended. */
  onReturned(transfers: readonly Transfer[]): void
  /** Called with the service's own messages. */
  onMessage(message: From): void
}

/** A connection that is being transferred to a worker. */
export interface Transfer {
  readonly message: HandOver
  readonly socket: Socket
}

/** A worker that takes longer to accept a connection gets no more while there are others. */
const stuckMs = 1_000

let turns = 0

/**
 * One worker, from its start to its end, as the primary sees it. `PrimaryLink` is the other end.
 * @typeParam To the service's own messages from the primary.
 * @typeParam From the service's own messages from the worker.
 */
export class WorkerProcess<To extends Message = Message, From extends Message = Message>
  implements Candidate
{
  readonly number: number
  readonly startedMs = performance.now()
  /** Resolves when the process has ended and its last message has been read. */
  readonly ended: Promise<void>
  isReady = false
  /** The reason why it could not start, if the worker reported it. */
  failure: string | undefined
  lastTurn = 0
  readonly #child: ChildProcess
  readonly #events: WorkerEvents<From>
  readonly #silentMs: number
  /** Connections that were handed over but have not arrived yet, by listener. */
  readonly #unseen = new Map<string, number>()
  /** Connections that the worker has reported, by listener and by address. */
  readonly #open = new Map<string, number>()
  readonly #addresses = new Map<string, number>()
  #lastMessageMs = performance.now()
  #waiting: Transfer[] = []
  #inTransit: Transfer | undefined
  #stopSignal: StopSignal | undefined
  #isStuck = false
  #stuckTimer: NodeJS.Timeout | undefined

  constructor(settings: WorkerSettings<From>) {
    const { program, number, start, logFd, silentMs = Number.POSITIVE_INFINITY, events } = settings
    this.number = number
    this.#events = events
    this.#silentMs = silentMs
    // 'advanced' serialization, since configurations contain maps and regular expressions, and
    // statistics typed arrays.
    this.#child = fork(program, [`${number}`], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', logFd, 'ipc'],
    })
    // If a message cannot be sent, the process is about to end.
    this.#child.on('error', () => {})
    this.#child.on('message', (message: FromWorker | From) => this.#receive(message))
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

  /** Whether it can be expected to accept a connection immediately. */
  get isResponsive(): boolean {
    const isSilent = performance.now() - this.#lastMessageMs >= this.#silentMs
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

  /** Connections of an address, if they are limited. */
  countAddress(address: string): number {
    return get(this.#addresses, address)
  }

  send(message: To): void {
    this.#send(message)
  }

  /** Stops the worker after the connections in transit, which are still served. */
  stop(signal: StopSignal): void {
    this.#stopSignal = signal
    this.#handNext()
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }

  /** Transfers are sent one at a time, so that the others can still go to another worker. */
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
    if (this.#inTransit !== undefined) return
    this.#inTransit = this.#waiting.shift()
    if (this.#inTransit === undefined) {
      this.#sendStop()
      return
    }
    const { message, socket } = this.#inTransit
    // The socket stays open here until the worker has adopted it: otherwise, if the worker is killed
    // in between, the connection is lost and its client waits forever.
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

  /** Returns the last transfer, whose socket is still here because the worker has ended. */
  #returnLast(): void {
    this.isReady = false
    if (this.#inTransit !== undefined) this.#waiting.unshift(this.#inTransit)
    this.#inTransit = undefined
    this.#returnWaiting()
  }

  #returnWaiting(): void {
    const transfers = this.#waiting
    this.#waiting = []
    for (const transfer of transfers) this.#countUnseen(transfer, -1)
    if (transfers.length > 0) this.#events.onReturned(transfers)
  }

  #receive(message: FromWorker | From): void {
    this.#lastMessageMs = performance.now()
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
    if (this.#inTransit !== undefined) {
      this.#countUnseen(this.#inTransit, -1)
      this.#open.set(this.#inTransit.message.listener, count)
      if (address !== undefined) this.#setAddress(address)
      // Closes only our copy: the connection belongs to the worker.
      this.#inTransit.socket.destroy()
    }
    this.#inTransit = undefined
    this.#handNext()
  }

  async #watchEnd(): Promise<void> {
    await new Promise<void>((resolve) => {
      // Emitted when all messages have been read. Node emits no 'disconnect' if a connection was in transit.
      this.#child.once('close', () => resolve())
      // The process could not be started.
      this.#child.once('error', () => {
        if (this.#child.pid === undefined) resolve()
      })
    })
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
