import { type Increment, StoreError } from '../counter-store.ts'
import { Backoff } from '../network/backoff.ts'
import type { PooledConnection } from '../network/pool.ts'
import { ReplyWatch } from '../network/reply-watch.ts'
import type { Call } from './call.ts'
import { CommandBuffer } from './command-buffer.ts'
import { Link, type LinkOwner, type LinkSettings } from './link.ts'
import { expected, ReplyQueue } from './reply-queue.ts'
import { ProtocolError, type Reply } from './resp-reader.ts'
import type { Script } from './scripts.ts'

/** Learns what became of the commands. */
export interface Replies {
  onInteger(from: Connection, kind: number, call: Call, increment: Increment, value: number): void
  onReply(from: Connection, kind: number, call: Call, increment: Increment, reply: Reply): void
}

export interface ConnectionSettings {
  /** How the connection is called in messages. */
  readonly name: string
  /** Where to connect to now; asked before every attempt. */
  readonly locate: () => Promise<LinkSettings>
  readonly replies: Replies
  readonly pipelineWindowMs: number
  readonly pipelineLimit: number
  readonly commandTimeoutMs: number
  /** Whether the process may end while a lost connection is tried again. */
  readonly isBackground: boolean
  readonly onOpen: () => void
  /** After a connection was lost, and after every attempt that failed. */
  readonly onDown: (loss: Loss) => void
}

export interface Loss {
  readonly wasOpen: boolean
  /** Whether commands may have been lost, sent or not. */
  readonly isLossy: boolean
  readonly isOurDoing: boolean
  readonly reason: StoreError
}

/** Commands without a reply, above which calls fail at once: a paused server fills no memory. */
const maxPending = 65_536
/**
 * A server that is silent for so long while it owes replies is given up, and connected to anew: twice
 * the command timeout, but not less than the one nor more than the other.
 */
const [minSilenceMs, maxSilenceMs] = [5_000, 30_000] as const
/** How often a connection that nobody uses is tried. */
const pingMs = 5_000

type State = 'idle' | 'connecting' | 'open' | 'waiting' | 'closed'

/**
 * A pipelined connection that reconnects by itself. All commands of one turn of the event loop leave
 * in one write, and one timer looks after the deadlines of all calls.
 *
 * While it is down, calls fail at once. Only the first attempt after a loss is waited for, each call
 * at most until its deadline: most losses are a restart or a failover that is already over.
 */
export class Connection implements LinkOwner, PooledConnection {
  readonly commands = new CommandBuffer()
  /** Those whose text was sent since the connection stands. */
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
    const patienceMs = Math.min(maxSilenceMs, Math.max(minSilenceMs, 2 * commandTimeoutMs))
    this.#watch = new ReplyWatch({
      replies: this.#queue,
      late: new StoreError(`${name}: did not answer in time`),
      onSilence: (silentMs) => {
        if (silentMs > patienceMs) this.drop(`has not answered for ${patienceMs / 1000} s`)
      },
    })
    this.#refusal = new StoreError(`${name}: not connected yet`)
    this.#flood = new StoreError(`${name}: ${maxPending} commands wait for a reply already`)
  }

  /** Replies that are on the way. */
  get pending(): number {
    return this.#queue.length
  }

  get isCollecting(): boolean {
    return this.commands.length > 0
  }

  get isOpen(): boolean {
    return this.#state === 'open'
  }

  /** Whether commands are taken: they are sent, or wait for an attempt that is under way. */
  get isAccepting(): boolean {
    return this.#isAccepting
  }

  /** @param isAwaited whether commands may wait for the first attempt. */
  start(isAwaited: boolean): void {
    if (this.#state !== 'idle') return
    this.#isAccepting = isAwaited
    this.#connect()
  }

  /** Why no command is taken now, if none is. */
  refuse(): StoreError | undefined {
    if (this.#isAccepting) return this.#queue.length < maxPending ? undefined : this.#flood
    if (this.#state === 'waiting' && this.#backoff.mayHurry()) this.#connect()
    return this.#refusal
  }

  /** Announces the reply to the command that was just written into `commands`. */
  expect(kind: number, call: Call, increment: Increment): void {
    this.#push(kind, call, increment)
    this.#watch.note(call.deadlineMs)
  }

  /** The same for a reply that concerns nobody. */
  expectNothing(): void {
    this.#push(expected.nothing, undefined, undefined)
  }

  /** The next reply means something else than was announced. */
  reinterpret(kind: number): void {
    this.#queue.reinterpret(kind)
  }

  flushSoon(): void {
    const { pipelineLimit, pipelineWindowMs } = this.#settings
    if (pipelineLimit > 0 && this.#unsentCommands >= pipelineLimit) {
      this.#flush()
    } else if (!this.#isFlushComing) {
      this.#isFlushComing = true
      if (pipelineWindowMs < 1) setImmediate(this.#flushNow)
      else this.#window = setTimeout(this.#flushNow, pipelineWindowMs)
    }
    this.#watch.start()
  }

  /** Gives up the present link, fails what is on the way, and connects anew. */
  drop(reason: string): void {
    if (this.#link) this.#link.close(reason)
    else if (this.#state === 'waiting') this.#connect()
  }

  /** For good. */
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
    this.#settings.onDown({ wasOpen, isLossy: true, isOurDoing: true, reason: this.#refusal })
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

  onClose(reason: StoreError, isOurDoing: boolean): void {
    if (this.#state === 'closed') return
    const wasOpen = this.#state === 'open'
    clearInterval(this.#pinger)
    this.#link = undefined
    this.#refusal = reason
    const isDueAtOnce = wasOpen && this.#backoff.isDueAtOnce(performance.now() - this.#openedAtMs)
    this.#isAccepting = isDueAtOnce
    this.#state = 'waiting'
    const isLossy = wasOpen || this.#queue.length > 0
    this.#settings.onDown({ wasOpen, isLossy, isOurDoing, reason })
    // Before the calls are failed: one of them may ask again at once, and hurry the attempt.
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
        const reason = error instanceof Error ? error.message : String(error)
        this.onClose(new StoreError(`${this.name}: ${reason}`, { cause: error }), false)
      },
    )
  }

  #push(kind: number, call: Call | undefined, increment: Increment | undefined): void {
    if (this.#queue.length === 0) this.#watch.endSilence()
    this.#queue.push(kind, call, increment)
    this.#unsentCommands++
  }

  #shift(): void {
    if (this.#queue.length === 0) throw new ProtocolError('Redis sent a reply to no command')
    this.#queue.shift()
  }

  /** Finds out that the server is gone before a call does. */
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
    // Not more than there are now: a caller may try again in its callback.
    for (let left = this.#queue.length; left > 0; left--) {
      const { call } = this.#queue
      this.#queue.shift()
      call?.fail(reason)
    }
  }
}
