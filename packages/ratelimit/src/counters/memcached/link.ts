import type { Socket } from 'node:net'
import { toReason } from '@portcullis/service-kit/text/reason'
import { StoreError } from '../counter-store.ts'
import type { ClientTls } from '../network/client-tls.ts'
import { type Endpoint, openSocket } from '../network/socket.ts'
import { pingCommand } from './operation.ts'
import { type ReplyHandler, ReplyReader } from './reply-reader.ts'

export interface LinkSettings {
  /** The name of the node in messages. */
  readonly name: string
  readonly endpoint: Endpoint
  readonly tls: ClientTls | undefined
  /** The timeout for the connection and the first reply together. */
  readonly timeoutMs: number
  /** Whether the process may exit while the link is open. */
  readonly isBackground: boolean
}

/** Receives the replies after the first one. */
export interface LinkOwner extends ReplyHandler {
  onOpen(): void
  /** The last call, made exactly once, even if the link never opened. */
  onClose(reason: StoreError): void
  /** Called after every chunk that was read. */
  onRead(): void
}

/**
 * One socket to one node, from the connection to its end. Its owner reconnects with a new link. The link
 * is open once the node has answered, because the kernel accepts connections even for a stuck process.
 */
export class Link implements ReplyHandler {
  readonly #owner: LinkOwner
  readonly #name: string
  readonly #socket: Socket
  readonly #reader = new ReplyReader(this)
  readonly #timer: NodeJS.Timeout
  #isOpen = false
  #isClosed = false

  constructor(settings: LinkSettings, owner: LinkOwner) {
    this.#owner = owner
    this.#name = settings.name
    this.#timer = setTimeout(() => {
      this.close(`did not answer within ${settings.timeoutMs} ms`)
    }, settings.timeoutMs)
    if (settings.isBackground) this.#timer.unref()
    this.#socket = openSocket({
      endpoint: settings.endpoint,
      tls: settings.tls,
      isBackground: settings.isBackground,
      onConnect: () => this.send(pingCommand),
      onRead: (bytes, length) => this.#read(bytes.subarray(0, length)),
      onEnd: (reason) => this.close(reason),
    })
  }

  send(commands: string): void {
    this.#socket.write(commands)
  }

  close(reason: string): void {
    if (this.#isClosed) return
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#reader.stop()
    this.#socket.destroy()
    this.#owner.onClose(new StoreError(`${this.#name}: ${reason}`))
  }

  onValue(name: string, count: number): void {
    if (this.#isOpen) this.#owner.onValue(name, count)
  }

  onEnd(): void {
    if (this.#isOpen) this.#owner.onEnd()
    else this.#open()
  }

  onNumber(value: number): void {
    if (this.#isOpen) this.#owner.onNumber(value)
    else this.close(`is not a memcached server: it answered ${value}`)
  }

  onStatus(text: string): void {
    if (this.#isOpen) this.#owner.onStatus(text)
    else this.close(text.slice(0, 200))
  }

  #read(bytes: Buffer): boolean {
    if (this.#isClosed) return false
    try {
      this.#reader.read(bytes)
    } catch (error) {
      this.close(toReason(error))
    }
    if (this.#isClosed) return false
    if (this.#isOpen) this.#owner.onRead()
    return true
  }

  #open(): void {
    clearTimeout(this.#timer)
    this.#isOpen = true
    this.#owner.onOpen()
  }
}
