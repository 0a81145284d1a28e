import type { Socket } from 'node:net'
import { toReason } from '@portcullis/service-kit/text/reason'
import { StoreError } from '../../counter-store.ts'
import type { ClientTls } from '../../network/client-tls.ts'
import { type Endpoint, openSocket } from '../../network/socket.ts'
import { type Credentials, toEndpointText } from '../address.ts'
import { CommandBuffer } from './command-buffer.ts'
import { type Reply, ReplyError, type ReplyHandler, RespReader } from './resp-reader.ts'

export interface LinkSettings {
  readonly endpoint: Endpoint
  readonly credentials?: Credentials | undefined
  readonly database?: number | undefined
  readonly tls?: ClientTls | undefined
  /** Set behind sentinels, where only the master is usable. */
  readonly mustBeMaster?: boolean
  /** The timeout for the connection and the handshake together. */
  readonly connectTimeoutMs: number
  /** Whether the process may exit while the link is open. */
  readonly isBackground?: boolean | undefined
}

/** Receives the replies that are not part of the handshake. */
export interface LinkOwner extends ReplyHandler {
  onOpen(): void
  /** The last call, made exactly once, even if the link never opened. `isLocalClose`: this side closed it. */
  onClose(reason: StoreError, isLocalClose: boolean): void
  /** Called after every chunk that was read. */
  onRead(): void
}

interface Step {
  readonly words: readonly string[]
  /** Returns why the reply is not acceptable, or undefined if it is. */
  readonly findFault: (reply: Reply) => string | undefined
}

/**
 * One socket to one server: connection, handshake and end. Its owner reconnects with a new link.
 */
export class Link implements ReplyHandler {
  readonly #owner: LinkOwner
  readonly #name: string
  readonly #socket: Socket
  readonly #isTls: boolean
  readonly #reader = new RespReader(this)
  readonly #steps: readonly Step[]
  readonly #timer: NodeJS.Timeout
  #stepsDone = 0
  #isClosed = false

  constructor(settings: LinkSettings, owner: LinkOwner) {
    this.#owner = owner
    this.#name = `Redis at ${toEndpointText(settings.endpoint)}`
    this.#isTls = settings.tls !== undefined
    this.#steps = toHandshake(settings)
    this.#timer = setTimeout(() => {
      this.#end(`did not answer within ${settings.connectTimeoutMs} ms`, true)
    }, settings.connectTimeoutMs)
    if (settings.isBackground) this.#timer.unref()
    this.#socket = openSocket({
      endpoint: settings.endpoint,
      tls: settings.tls,
      isBackground: settings.isBackground,
      onConnect: () => this.#sendHandshake(),
      onRead: (bytes, length) => this.#read(bytes, length),
      onEnd: (reason) => this.#end(reason, false),
    })
  }

  /**
   * Sends the collected bytes and empties the buffer. A plain socket usually passes them to the kernel
   * immediately, so the buffer can be reused; otherwise the socket keeps the bytes.
   */
  send(commands: CommandBuffer): void {
    if (this.#isTls) {
      this.#socket.write(Buffer.from(commands.collected))
      commands.clear()
      return
    }
    this.#socket.write(commands.collected)
    if (this.#socket.writableLength === 0) commands.clear()
    else commands.handOver()
  }

  close(reason: string): void {
    this.#end(reason, true)
  }

  /** Handles replies to the handshake; after `onOpen`, replies go directly to the owner. */
  onInteger(value: number): void {
    this.onReply(value)
  }

  onReply(reply: Reply): void {
    const fault = this.#steps[this.#stepsDone++]?.findFault(reply)
    if (fault !== undefined) this.#end(fault, true)
    else if (this.#stepsDone === this.#steps.length) this.#open()
  }

  #sendHandshake(): void {
    const commands = new CommandBuffer()
    for (const { words } of this.#steps) commands.command(words)
    this.send(commands)
  }

  #read(bytes: Uint8Array, length: number): boolean {
    if (this.#isClosed) return false
    try {
      this.#reader.read(bytes, length)
    } catch (error) {
      this.#end(toReason(error), true)
    }
    if (this.#isClosed) return false
    if (this.#stepsDone >= this.#steps.length) this.#owner.onRead()
    return true
  }

  #open(): void {
    clearTimeout(this.#timer)
    this.#reader.handler = this.#owner
    this.#owner.onOpen()
  }

  #end(reason: string, isLocalClose: boolean): void {
    if (this.#isClosed) return
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#reader.stop()
    this.#socket.destroy()
    this.#owner.onClose(new StoreError(`${this.#name}: ${reason}`), isLocalClose)
  }
}

function toHandshake(settings: LinkSettings): Step[] {
  const { credentials, database, mustBeMaster } = settings
  const steps: Step[] = []
  if (credentials) {
    const { user, password } = credentials
    const words = user === undefined ? ['AUTH', password] : ['AUTH', user, password]
    steps.push({ words, findFault: createReplyCheck('OK') })
  }
  if (database) steps.push({ words: ['SELECT', `${database}`], findFault: createReplyCheck('OK') })
  steps.push({ words: ['PING'], findFault: createReplyCheck('PONG') })
  if (mustBeMaster) {
    const findFault = (reply: Reply) => {
      if (reply instanceof ReplyError) return reply.message
      return Array.isArray(reply) && reply[0] === 'master' ? undefined : 'is not a master now'
    }
    steps.push({ words: ['ROLE'], findFault })
  }
  return steps
}

function createReplyCheck(wanted: string): (reply: Reply) => string | undefined {
  return (reply) => {
    if (reply === wanted) return undefined
    return reply instanceof ReplyError ? reply.message : `answered ${JSON.stringify(reply)}`
  }
}
