import { connect, isIP, type Socket } from 'node:net'
import { type TLSSocket, connect as tlsConnect } from 'node:tls'
import { StoreError } from '../counter-store.ts'
import type { ClientTls } from '../network/client-tls.ts'
import type { Endpoint } from './endpoint.ts'
import { pingCommand } from './operation.ts'
import { type ReplyHandler, ReplyReader } from './reply-reader.ts'

export interface LinkSettings {
  /** How messages call the node. */
  readonly name: string
  readonly endpoint: Endpoint
  readonly tls: ClientTls | undefined
  /** For the connection and the first reply together. */
  readonly timeoutMs: number
}

/** Gets the replies after the first. */
export interface LinkOwner extends ReplyHandler {
  onOpen(): void
  /** Once, and nothing after it; also when the link never opened. */
  onClose(reason: StoreError): void
  /** After every piece that was read. */
  onRead(): void
}

const keepAliveMs = 10_000
const readBufferBytes = 65_536

/**
 * One socket to one node, from the connection to its end. It never comes back: reconnecting is up to
 * its owner. It is open once the node answered: the kernel also accepts for a process that is stuck.
 */
export class Link implements ReplyHandler {
  readonly #owner: LinkOwner
  readonly #name: string
  readonly #socket: Socket | TLSSocket
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
    this.#socket = this.#connect(settings)
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
    else this.close(`is no memcached: it answered ${value}`)
  }

  onStatus(text: string): void {
    if (this.#isOpen) this.#owner.onStatus(text)
    else this.close(text.slice(0, 200))
  }

  #connect({ endpoint, tls }: LinkSettings): Socket | TLSSocket {
    const buffer = Buffer.allocUnsafeSlow(readBufferBytes)
    const callback = (bytesRead: number) => this.#read(buffer.subarray(0, bytesRead))
    const target = { ...endpoint, noDelay: true, onread: { buffer, callback } }
    const socket = tls
      ? tlsConnect({
          ...target,
          secureContext: tls.context,
          ...('host' in endpoint && isIP(endpoint.host) === 0 ? { servername: endpoint.host } : {}),
          ...(tls.skipHostnameVerification ? { checkServerIdentity: () => undefined } : {}),
        })
      : connect({ ...target, keepAlive: true, keepAliveInitialDelay: keepAliveMs })
    socket.once(tls ? 'secureConnect' : 'connect', () => {
      if (tls && 'host' in endpoint) socket.setKeepAlive(true, keepAliveMs)
      socket.write(pingCommand)
    })
    socket.on('error', (error) => this.close(toReason(error)))
    socket.on('end', () => this.close('closed the connection'))
    socket.on('close', () => this.close('closed the connection'))
    return socket
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

/**
 * Where a name has several addresses, Node wraps their errors in one without a text. Those of OpenSSL
 * end in a line break.
 */
function toReason(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(toReason).join('; ')
  return error instanceof Error ? error.message.trimEnd() : String(error)
}
