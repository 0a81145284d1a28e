import { createSocket, type Socket } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import { toReason } from '../../text/reason.ts'
import { type Output, type ReportSettings, Reports } from './output.ts'

export interface UdpSettings {
  readonly host: string
  readonly port: number
  /** How long the resolved address of the host is used. */
  readonly lookupMs?: number
  readonly retryMs?: number
  /** What to do about a name that does not fit into a packet: the end of a log message, without a period. */
  readonly tooLongAdvice: string
}

/** The payload that fits into one Ethernet frame. */
const packetBytes = 1_432

/** The most packets that are handed to the operating system at a time. */
const maxPackets = 64

/** Packs lines into packets. UDP confirms nothing, so lost packets go unnoticed. */
export function openUdpOutput(settings: UdpSettings, reports: ReportSettings): Output {
  return new UdpOutput(settings, reports)
}

class UdpOutput implements Output {
  readonly tried: Promise<void>
  readonly #settings: UdpSettings
  readonly #report: ReportSettings
  readonly #reports: Reports
  #socket: Socket | undefined
  #address = ''
  #lookup: NodeJS.Timeout | undefined
  #isClosing = false
  #packet = Buffer.allocUnsafe(packetBytes)
  #used = 0
  #pending = 0
  #waiting: (() => void)[] = []
  #hasLoggedTooLong = false

  constructor(settings: UdpSettings, report: ReportSettings) {
    this.#settings = settings
    this.#report = report
    this.#reports = new Reports(report)
    this.tried = this.#resolve()
  }

  get isOpen(): boolean {
    return this.#socket !== undefined
  }

  get isFull(): boolean {
    return this.#pending >= maxPackets
  }

  async room(): Promise<void> {
    if (this.isFull) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  write(line: string): void {
    if (this.#socket === undefined) return
    const bytes = Buffer.byteLength(line)
    if (bytes > packetBytes) {
      this.#refuse(line)
      return
    }
    if (this.#used + bytes > packetBytes) this.send()
    this.#used += this.#packet.write(line, this.#used)
  }

  send(): void {
    if (this.#used === 0 || this.#socket === undefined) return
    const packet = this.#packet.subarray(0, this.#used)
    this.#packet = Buffer.allocUnsafe(packetBytes)
    this.#used = 0
    this.#pending += 1
    this.#socket.send(packet, this.#onSent)
  }

  async close(giveUp: AbortSignal): Promise<void> {
    this.#isClosing = true
    clearTimeout(this.#lookup)
    this.send()
    const cutOff = () => {
      this.#pending = 0
      this.#release()
    }
    giveUp.addEventListener('abort', cutOff, { once: true })
    if (giveUp.aborted) cutOff()
    while (this.#pending > 0) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
    giveUp.removeEventListener('abort', cutOff)
    this.#replace(undefined)
  }

  readonly #onSent = (error: Error | null): void => {
    this.#pending -= 1
    // The error belongs to an earlier packet: nothing listens on that port.
    if (error !== null) this.#reports.lost(error.message)
    this.#release()
  }

  #release(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
  }

  /** Resolves the host at intervals, because `send` to a host name would resolve it for each packet. */
  async #resolve(): Promise<void> {
    const { host, lookupMs = 60_000, retryMs = 3_000 } = this.#settings
    let pauseMs = lookupMs
    try {
      const { address, family } = await lookup(host)
      if (this.#isClosing) return
      if (address !== this.#address) await this.#connect(address, family)
    } catch (error) {
      this.#reports.lost(toReason(error))
      pauseMs = retryMs
    }
    if (this.#isClosing) return
    this.#lookup = setTimeout(() => void this.#resolve(), pauseMs)
    this.#lookup.unref()
  }

  async #connect(address: string, family: number): Promise<void> {
    const socket = createSocket(family === 6 ? 'udp6' : 'udp4')
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    socket.on('error', (error) => {
      reject(error)
      this.#reports.lost(error.message)
    })
    socket.connect(this.#settings.port, address, resolve)
    await promise
    if (this.#isClosing) return void socket.close()
    this.#address = address
    this.#replace(socket)
  }

  #replace(socket: Socket | undefined): void {
    this.#socket?.close()
    this.#socket = socket
  }

  #refuse(line: string): void {
    if (this.#hasLoggedTooLong) return
    this.#hasLoggedTooLong = true
    this.#report.log.warning(
      `Statistics with names that do not fit into a packet of ${packetBytes} bytes are not sent, ` +
        `such as ${line.slice(0, 100)}…: ${this.#settings.tooLongAdvice}`,
    )
  }
}
