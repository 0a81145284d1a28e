import { StoreError } from '../counter-store.ts'
import { Backoff } from '../network/backoff.ts'
import type { PooledConnection } from '../network/pool.ts'
import { ReplyWatch } from '../network/reply-watch.ts'
import { Link, type LinkOwner, type LinkSettings } from './link.ts'
import { type Operation, OperationQueue, Ping, pingCommand } from './operation.ts'
import { ProtocolError } from './reply-reader.ts'

export interface ConnectionSettings extends LinkSettings {
  readonly onOpen: () => void
  /** Called after a connection was lost, and after every failed attempt. */
  readonly onDown: (reason: StoreError) => void
}

/**
 * The number of outstanding replies above which calls fail immediately, so that a paused node does not fill
 * the memory.
 */
const maxPending = 65_536
/** How many timeouts a node may be silent while replies are outstanding before the connection is replaced. */
const timeoutsBeforeDrop = 10
/** How often an idle connection is checked. */
const pingMs = 5_000

type State = 'idle' | 'connecting' | 'open' | 'waiting' | 'closed'

/**
 * A pipelined connection that reconnects automatically. All commands of one turn of the event loop are
 * sent in one write, and one timer enforces the deadlines of all operations.
 *
 * While it is down, operations fail immediately. They wait only for the first attempt after a loss, at
 * most until their deadlines. If replies are outstanding and the node is silent for the timeout,
 * operations do not wait for it until it sends something, so a stuck node costs its callers the timeout
 * only once. Commands whose replies are not awaited are still sent to it.
 */
export class Connection implements LinkOwner, PooledConnection {
  readonly #settings: ConnectionSettings
  readonly #queue = new OperationQueue()
  readonly #backoff = new Backoff()
  readonly #flood: StoreError
  readonly #late: StoreError
  readonly #watch: ReplyWatch
  #state: State = 'idle'
  #link: Link | undefined
  #isAccepting = false
  #isSilent = false
  #refusal: StoreError
  #commands = ''
  #isFlushComing = false
  #openedAtMs = 0
  #retry: NodeJS.Timeout | undefined
  #pinger: NodeJS.Timeout | undefined

  constructor(settings: ConnectionSettings) {
    const { name } = settings
    this.#settings = settings
    this.#refusal = new StoreError(`${name}: not connected yet`)
    this.#flood = new StoreError(`${name}: ${maxPending} commands already wait for a reply`)
    this.#late = new StoreError(`${name}: did not answer in time`)
    this.#watch = new ReplyWatch({
      replies: this.#queue,
      late: this.#late,
      onSilence: (silentMs) => this.#onSilence(silentMs),
    })
  }

  /** The number of outstanding replies. */
  get pending(): number {
    return this.#queue.length
  }

  /** Whether commands of this turn of the event loop were collected but not sent yet. */
  get isCollecting(): boolean {
    return this.#isFlushComing
  }

  get isOpen(): boolean {
    return this.#state === 'open'
  }

  /** Whether a reply can be expected, now or when the current attempt succeeds. */
  get isAccepting(): boolean {
    return this.#isAccepting && !this.#isSilent
  }

  /** @param isAwaited - whether commands may wait for the first attempt */
  start(isAwaited: boolean): void {
    if (this.#state !== 'idle') return
    this.#isAccepting = isAwaited
    this.#connect()
  }

  /** Sends a command with this turn's write. Returns the reason if it cannot be sent. */
  send(command: string, operation: Operation): StoreError | undefined {
    const refusal = this.#refuse(operation)
    if (refusal !== undefined) return refusal
    if (this.#queue.length === 0) this.#watch.endSilence()
    this.#queue.push(operation)
    this.#commands += command
    this.#watch.note(operation.deadlineMs)
    if (!this.#isFlushComing) {
      this.#isFlushComing = true
      setImmediate(this.#flush)
    }
    this.#watch.start()
    return undefined
  }

  /** Closes permanently. */
  close(reason: string): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    this.#isAccepting = false
    this.#refusal = new StoreError(reason)
    this.#watch.stop()
    clearTimeout(this.#retry)
    clearInterval(this.#pinger)
    this.#link?.close(reason)
    this.#failAll(this.#refusal)
  }

  onOpen(): void {
    this.#state = 'open'
    this.#isAccepting = true
    this.#openedAtMs = performance.now()
    this.#watch.endSilence()
    this.#pinger = setInterval(() => {
      if (this.#queue.length === 0) this.send(pingCommand, new Ping())
    }, pingMs).unref()
    this.#settings.onOpen()
    this.#flush()
  }

  onValue(name: string, count: number): void {
    const { oldest } = this.#queue
    if (oldest === undefined) throw new ProtocolError('memcached sent a reply without a command')
    oldest.onValue(name, count)
  }

  onEnd(): void {
    this.#next().onEnd()
  }

  onNumber(value: number): void {
    this.#next().onNumber(this, value)
  }

  onStatus(text: string): void {
    this.#next().onStatus(this, text)
  }

  onRead(): void {
    this.#watch.endSilence()
    this.#isSilent = false
  }

  onClose(reason: StoreError): void {
    if (this.#state === 'closed') return
    const wasOpen = this.#state === 'open'
    clearInterval(this.#pinger)
    this.#link = undefined
    this.#refusal = reason
    const lastedMs = performance.now() - this.#openedAtMs
    // A node that stopped answering is not retried immediately.
    const isDueAtOnce = wasOpen && !this.#isSilent && this.#backoff.isDueAtOnce(lastedMs)
    this.#isAccepting = isDueAtOnce
    this.#isSilent = false
    this.#state = 'waiting'
    this.#settings.onDown(reason)
    if (!isDueAtOnce) this.#retryLater()
    this.#failAll(reason)
    if (isDueAtOnce) this.#connect()
  }

  #refuse({ deadlineMs }: Operation): StoreError | undefined {
    const isAwaited = deadlineMs < Number.POSITIVE_INFINITY
    if (this.#isSilent && isAwaited) return this.#late
    if (this.#isAccepting) return this.#queue.length < maxPending ? undefined : this.#flood
    if (this.#state === 'waiting' && this.#backoff.mayHurry()) this.#connect()
    return this.#refusal
  }

  #retryLater(): void {
    this.#retry = setTimeout(() => this.#connect(), this.#backoff.nextMs())
    if (this.#settings.isBackground) this.#retry.unref()
  }

  #connect(): void {
    if (this.#state !== 'idle' && this.#state !== 'waiting') return
    clearTimeout(this.#retry)
    this.#state = 'connecting'
    this.#backoff.noteAttempt()
    this.#link = new Link(this.#settings, this)
  }

  #next(): Operation {
    const operation = this.#queue.shift()
    if (operation === undefined) throw new ProtocolError('memcached sent a reply without a command')
    return operation
  }

  readonly #flush = (): void => {
    this.#isFlushComing = false
    if (this.#state !== 'open' || this.#commands === '') return
    const commands = this.#commands
    this.#commands = ''
    this.#link?.send(commands)
  }

  #onSilence(silentMs: number): void {
    if (this.#state !== 'open') return
    const { timeoutMs } = this.#settings
    if (silentMs >= timeoutMs) this.#isSilent = true
    if (silentMs < timeoutMs * timeoutsBeforeDrop) return
    this.#link?.close(`has not answered for ${silentMs / 1000} s`)
  }

  #failAll(reason: StoreError): void {
    this.#commands = ''
    // Only the current entries: a caller may retry in its callback.
    for (let left = this.#queue.length; left > 0; left--) {
      const operation = this.#queue.shift()
      if (operation?.isDone === false) operation.fail(reason)
    }
  }
}
