import { toReason } from '@portcullis/service-kit/text/reason'
import { type Increment, StoreError } from '../../counter-store.ts'
import { Backoff } from '../../network/backoff.ts'
import type { PooledConnection } from '../../network/pool.ts'
import { ReplyWatch } from '../../network/reply-watch.ts'
import type { Script } from '../scripts.ts'
import type { Call } from './call.ts'
import { CommandBuffer } from './command-buffer.ts'
import { Link, type LinkOwner, type LinkSettings } from './link.ts'
import { expected, ReplyQueue } from './reply-queue.ts'
import { ProtocolError, type Reply } from './resp-reader.ts'

/** Receives the results of commands. */
export interface Replies {
  onInteger(from: Connection, kind: number, call: Call, increment: Increment, value: number): void
  onReply(from: Connection, kind: number, call: Call, increment: Increment, reply: Reply): void
}

export interface ConnectionSettings {
  /** The name of the connection in messages. */
  readonly name: string
  /** Returns where to connect; called before every attempt. */
  readonly locate: () => Promise<LinkSettings>
  readonly replies: Replies
  readonly pipelineWindowMs: number
  readonly pipelineLimit: number
  readonly commandTimeoutMs: number
  /** Whether the process may exit while the connection reconnects. */
  readonly isBackground: boolean
  readonly onOpen: () => void
  /** Called after a connection was lost, and after every failed attempt. */
  readonly onDown: (loss: Loss) => void
}

export interface Loss {
  readonly wasOpen: boolean
  /** Whether commands may have been lost, whether they were sent or not. */
  readonly isLossy: boolean
  readonly isLocalClose: boolean
  readonly reason: StoreError
}

/**
 * The number of outstanding replies above which calls fail immediately, so that a paused server does not fill
 * the memory.
 */
const maxPending = 65_536
/**
 * A connection whose server is silent for this long while replies are outstanding is replaced. The time is
 * twice the command timeout, within these bounds.
 */
const [minSilenceMs, maxSilenceMs] = [5_000, 30_000] as const
/** How often an idle connection is checked. */
const pingMs = 5_000

type State = 'idle' | 'connecting' | 'open' | 'waiting' | 'closed'

/**
 * A pipelined connection that reconnects automatically. All commands of one turn of the event loop are
 * sent in one write, and one timer enforces the deadlines of all calls.
 *
 * While it is down, calls fail immediately. They wait only for the first attempt after a loss, at most
 * until their deadlines: most losses are a restart or a failover that has already completed.
 */
export class Connection implements LinkOwner, PooledConnection {
  readonly commands = new CommandBuffer()
  /** The scripts whose text was sent over this connection. */
  readonly scripts = new Set<Script>()
  readonly name: string
  readonly #settings: ConnectionSettings
  readonly #queue = new ReplyQueue()
  readonly #backoff = new Backoff()
  readonly #flood: StoreError
  readonly #watch: ReplyWatch
  #state: State = 'idle'
  #link: Link | undefined
  #isAccepting = false
  #refusal: StoreError
  #openedAtMs = 0
  #retry: NodeJS.Timeout | undefined
  #pinger: NodeJS.Timeout | undefined
  #isFlushComing = false
  #window: NodeJS.Timeout | undefined
  #unsentCommands = 0

  constructor(settings: ConnectionSettings) {
    const { name, commandTimeoutMs } = settings
    this.name = name
    this.#settings = settings
    const allowedMs = Math.min(maxSilenceMs, Math.max(minSilenceMs, 2 * commandTimeoutMs))
    this.#watch = new ReplyWatch({
      replies: this.#queue,
      late: new StoreError(`${name}: did not answer in time`),
      onSilence: (silentMs) => {
        if (silentMs > allowedMs) this.drop(`has not answered for ${allowedMs / 1000} s`)
      },
    })
    this.#refusal = new StoreError(`${name}: not connected yet`)
    this.#flood = new StoreError(`${name}: ${maxPending} commands already wait for a reply`)
  }

  /** The number of outstanding replies. */
  get pending(): number {
    return this.#queue.length
  }

  get isCollecting(): boolean {
    return this.commands.length > 0
  }

  get isOpen(): boolean {
    return this.#state === 'open'
  }

  /** Whether commands are accepted: they are sent, or wait for a connection attempt in progress. */
  get isAccepting(): boolean {
    return this.#isAccepting
  }

  /** @param isAwaited - whether commands may wait for the first attempt */
  start(isAwaited: boolean): void {
    if (this.#state !== 'idle') return
    this.#isAccepting = isAwaited
    this.#connect()
  }

  /** Returns why commands are refused now, or undefined if they are accepted. */
  refuse(): StoreError | undefined {
    if (this.#isAccepting) return this.#queue.length < maxPending ? undefined : this.#flood
    if (this.#state === 'waiting' && this.#backoff.mayHurry()) this.#connect()
    return this.#refusal
  }

  /** Registers the reply to the command that was just written into `commands`. */
  expect(kind: number, call: Call, increment: Increment): void {
    this.#push(kind, call, increment)
    this.#watch.note(call.deadlineMs)
  }

  /** Registers a reply that is ignored. */
  expectNothing(): void {
    this.#push(expected.nothing, undefined, undefined)
  }

  /** Changes the meaning of the next reply. */
  reinterpret(kind: number): void {
    this.#queue.reinterpret(kind)
  }

  flushSoon(): void {
    const { pipelineLimit, pipelineWindowMs } = this.#settings
    if (this.#isFlushComing && pipelineLimit === 0) return
    if (pipelineLimit > 0 && this.#unsentCommands >= pipelineLimit) {
      this.#flush()
    } else if (!this.#isFlushComing) {
      this.#isFlushComing = true
      if (pipelineWindowMs < 1) setImmediate(this.#flushNow)
      else this.#window = setTimeout(this.#flushNow, pipelineWindowMs)
    }
    this.#watch.start()
  }

  /** Closes the current link, fails outstanding calls, and reconnects. */
  drop(reason: string): void {
    if (this.#link) this.#link.close(reason)
    else if (this.#state === 'waiting') this.#connect()
  }

  /** Closes permanently. */
  close(reason: string): void {
    if (this.#state === 'closed') return
    const wasOpen = this.#state === 'open'
    this.#state = 'closed'
    this.#isAccepting = false
    this.#refusal = new StoreError(reason)
    this.#watch.stop()
    clearTimeout(this.#retry)
    clearTimeout(this.#window)
    clearInterval(this.#pinger)
    this.#link?.close(reason)
    this.#failAll(this.#refusal)
    if (!wasOpen) return
    this.#settings.onDown({ wasOpen, isLossy: true, isLocalClose: true, reason: this.#refusal })
  }

  onOpen(): void {
    this.#state = 'open'
    this.#isAccepting = true
    this.#openedAtMs = performance.now()
    this.#watch.endSilence()
    this.#pinger = setInterval(() => this.#ping(), pingMs).unref()
    this.#settings.onOpen()
    this.#flush()
  }

  onInteger(value: number): void {
    const { kind, call, increment } = this.#queue
    this.#shift()
    if (call === undefined || increment === undefined) return
    this.#settings.replies.onInteger(this, kind, call, increment, value)
  }

  onReply(reply: Reply): void {
    const { kind, call, increment } = this.#queue
    this.#shift()
    if (call === undefined || increment === undefined) return
    this.#settings.replies.onReply(this, kind, call, increment, reply)
  }

  onRead(): void {
    this.#watch.endSilence()
  }

  onClose(reason: StoreError, isLocalClose: boolean): void {
    if (this.#state === 'closed') return
    const wasOpen = this.#state === 'open'
    clearInterval(this.#pinger)
    this.#link = undefined
    this.#refusal = reason
    const isDueAtOnce = wasOpen && this.#backoff.isDueAtOnce(performance.now() - this.#openedAtMs)
    this.#isAccepting = isDueAtOnce
    this.#state = 'waiting'
    const isLossy = wasOpen || this.#queue.length > 0
    this.#settings.onDown({ wasOpen, isLossy, isLocalClose, reason })
    // This comes before the calls fail: a caller that retries in its callback may start the attempt early, which
    // must clear the timer.
    if (isDueAtOnce) this.#connect()
    else this.#retryLater()
    this.#failAll(reason)
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
    this.#settings.locate().then(
      (settings) => {
        if (this.#state === 'connecting') this.#link = new Link(settings, this)
      },
      (error: unknown) => {
        this.onClose(new StoreError(`${this.name}: ${toReason(error)}`, { cause: error }), false)
      },
    )
  }

  #push(kind: number, call: Call | undefined, increment: Increment | undefined): void {
    if (this.#queue.length === 0) this.#watch.endSilence()
    this.#queue.push(kind, call, increment)
    this.#unsentCommands++
  }

  #shift(): void {
    if (this.#queue.length === 0) throw new ProtocolError('Redis sent a reply without a command')
    this.#queue.shift()
  }

  /** Detects a lost server before a call does. */
  #ping(): void {
    if (this.#queue.length > 0) return
    this.commands.command(['PING'])
    this.expectNothing()
    this.flushSoon()
  }

  readonly #flushNow = (): void => {
    this.#isFlushComing = false
    this.#flush()
  }

  #flush(): void {
    if (this.#state !== 'open' || this.commands.length === 0) return
    this.#unsentCommands = 0
    this.#link?.send(this.commands)
  }

  #failAll(reason: StoreError): void {
    this.commands.clear()
    this.scripts.clear()
    this.#unsentCommands = 0
    // Only the current entries: a caller may retry in its callback.
    for (let left = this.#queue.length; left > 0; left--) {
      const { call } = this.#queue
      this.#queue.shift()
      call?.fail(reason)
    }
  }
}
