import type { Socket } from 'node:net'
import { StoreError } from '../counter-store.ts'
import type { ClientTls } from '../network/client-tls.ts'
import { type Endpoint, openSocket, toReason } from '../network/socket.ts'
import { type Credentials, toEndpointText } from './address.ts'
import { CommandBuffer } from './command-buffer.ts'
import { type Reply, ReplyError, type ReplyHandler, RespReader } from './resp-reader.ts'

export interface LinkSettings {
  readonly endpoint: Endpoint
  readonly credentials?: Credentials | undefined
  readonly database?: number | undefined
  readonly tls?: ClientTls | undefined
  /** Behind sentinels: whoever is not the master is no use. */
  readonly mustBeMaster?: boolean
  /** For the connection and the handshake together. */
  readonly connectTimeoutMs: number
  /** Whether the process may end while the link is open. */
  readonly isBackground?: boolean | undefined
}

/** Gets the replies that are not part of the handshake. */
export interface LinkOwner extends ReplyHandler {
  onOpen(): void
  /** Once, and nothing after it, with whether we ended it; also when the link never opened. */
  onClose(reason: StoreError, isOurDoing: boolean): void
  /** After every piece that was read. */
  onRead(): void
}

interface Step {
  readonly words: readonly string[]
  /** What is wrong with the reply, if anything. */
  readonly complain: (reply: Reply) => string | undefined
}

/**
 * One socket to one server, from the connection over the handshake to its end. It never comes back:
 * reconnecting is up to its owner.
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
      onConnect: () => this.#greet(),
      onRead: (bytes, length) => this.#read(bytes, length),
      onEnd: (reason) => this.#end(reason, false),
    })
  }

  /**
   * Sends what the buffer has collected and empties it. A plain socket mostly passes the bytes to
   * the kernel at once, so the buffer can be filled again; otherwise the bytes stay the socket's.
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

  /** Replies to the handshake; from `onOpen` on, replies go to the owner without this detour. */
  onInteger(value: number): void {
    this.onReply(value)
  }

  onReply(reply: Reply): void {
    const complaint = this.#steps[this.#stepsDone++]?.complain(reply)
    if (complaint !== undefined) this.#end(complaint, true)
    else if (this.#stepsDone === this.#steps.length) this.#open()
  }

  #greet(): void {
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

  #end(reason: string, isOurDoing: boolean): void {
    if (this.#isClosed) return
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#reader.stop()
    this.#socket.destroy()
    this.#owner.onClose(new StoreError(`${this.#name}: ${reason}`), isOurDoing)
  }
}

function toHandshake(settings: LinkSettings): Step[] {
  const { credentials, database, mustBeMaster } = settings
  const steps: Step[] = []
  if (credentials) {
    const { user, password } = credentials
    const words = user === undefined ? ['AUTH', password] : ['AUTH', user, password]
    steps.push({ words, complain: toComplaint('OK') })
  }
  if (database) steps.push({ words: ['SELECT', `${database}`], complain: toComplaint('OK') })
  steps.push({ words: ['PING'], complain: toComplaint('PONG') })
  if (mustBeMaster) {
    const complain = (reply: Reply) => {
      if (reply instanceof ReplyError) return reply.message
      return Array.isArray(reply) && reply[0] === 'master' ? undefined : 'is not a master now'
    }
    steps.push({ words: ['ROLE'], complain })
  }
  return steps
}

function toComplaint(wanted: string): (reply: Reply) => string | undefined {
  return (reply) => {
    if (reply === wanted) return undefined
    return reply instanceof ReplyError ? reply.message : `answered ${JSON.stringify(reply)}`
  }
}
