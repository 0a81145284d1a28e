import { connect, type Socket } from 'node:net'
import { toReason } from '../../text/reason.ts'
import { LineQueue, type Output, type ReportSettings, Reports } from './output.ts'

export interface TcpSettings {
  readonly host: string
  readonly port: number
  /** The pause between attempts to connect. */
  readonly retryMs?: number
  /** The connection is closed if the peer reads nothing for this long. */
  readonly stallMs?: number
}

/** Connects, and reconnects forever. Meanwhile a bounded number of lines is kept. */
export function openTcpOutput(settings: TcpSettings, reports: ReportSettings): Output {
  return new TcpOutput(settings, new Reports(reports))
}

class TcpOutput implements Output {
  readonly tried: Promise<void>
  onOpen: (() => void) | undefined
  readonly #settings: TcpSettings
  readonly #reports: Reports
  readonly #queue = new LineQueue()
  #socket: Socket
  #isConnected = false
  #isBlocked = false
  #isClosing = false
  #retry: NodeJS.Timeout | undefined

  constructor(settings: TcpSettings, reports: Reports) {
    this.#settings = settings
    this.#reports = reports
    this.#socket = this.#connect()
    this.tried = new Promise((resolve) => {
      this.#socket.once('connect', resolve).once('close', () => resolve())
    })
  }

  get isOpen(): boolean {
    return this.#isConnected
  }

  get isFull(): boolean {
    return this.#queue.isFull
  }

  async room(): Promise<void> {
    if (this.#isConnected) await this.#queue.room()
  }

  write(line: string): void {
    this.#queue.add(line)
    if (this.#queue.hasChunk) this.send()
  }

  send(): void {
    while (this.#isConnected && !this.#isBlocked) {
      const chunk = this.#queue.take()
      if (chunk === undefined) return
      this.#isBlocked = !this.#socket.write(chunk)
    }
  }

  async close(giveUp: AbortSignal): Promise<void> {
    this.#isClosing = true
    clearTimeout(this.#retry)
    const socket = this.#socket
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
    const cutOff = () => socket.destroy()
    giveUp.addEventListener('abort', cutOff, { once: true })
    if (!this.#isConnected || giveUp.aborted) cutOff()
    else this.#endWhenSent()
    if (!socket.closed) await closed
    giveUp.removeEventListener('abort', cutOff)
  }

  #endWhenSent(): void {
    this.send()
    if (this.#queue.isEmpty) this.#socket.end()
    else this.#socket.once('drain', () => this.#endWhenSent())
  }

  #connect(): Socket {
    const { host, port, stallMs = 30_000 } = this.#settings
    const socket = connect({ host, port, keepAlive: true, noDelay: true })
    let reason = 'the connection was closed'
    socket.setTimeout(stallMs)
    socket.on('connect', () => {
      this.#isConnected = true
      this.#isBlocked = false
      this.#reports.found()
      this.send()
      this.onOpen?.()
    })
    socket.on('drain', () => {
      this.#isBlocked = false
      this.send()
    })
    socket.on('timeout', () => {
      if (socket.connecting || socket.writableLength > 0) {
        socket.destroy(new Error(`the peer read nothing for ${stallMs} ms`))
      }
    })
    // Reads and discards what the peer sends; otherwise the end of the connection would go unnoticed.
    socket.resume()
    socket.on('error', (error) => {
      reason = toReason(error)
    })
    socket.on('close', () => this.#onLost(reason))
    return socket
  }

  #onLost(reason: string): void {
    this.#isConnected = false
    this.#queue.release()
    if (this.#isClosing) return
    const { retryMs = 3_000 } = this.#settings
    this.#reports.lost(`${reason}; trying again every ${retryMs / 1000} s`)
    this.#retry = setTimeout(() => {
      this.#socket = this.#connect()
    }, retryMs)
    this.#retry.unref()
  }
}
