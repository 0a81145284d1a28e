import type { Log } from '@portcullis/service-kit/log'

/** Takes lines and never makes anybody wait: who writes looks whether there is room first. */
export interface Output {
  /** Whether what is written has a chance to arrive. */
  readonly isOpen: boolean
  /** Resolves when the first attempt to open has gone one way or the other. */
  readonly tried: Promise<void>
  /** Set by who has something that waits for a connection: called with each new one. */
  onOpen?: (() => void) | undefined
  /** Whether to wait for room before more is written. */
  readonly isFull: boolean
  /** Resolves when there is room, and also when the output is lost. */
  room(): Promise<void>
  /** A whole line, with its end. */
  write(line: string): void
  /** Sends what waits for company. */
  send(): void
  /** Resolves when all is sent; gives up when told to. */
  close(giveUp: AbortSignal): Promise<void>
}

/** Before more is written, this much should have left. */
export const enoughBytes = 128 << 10

/** What may wait for somebody who does not read (reference 7.2). */
export const mostBytes = 4 << 20

const chunkBytes = 32 << 10

/** Lines that wait to be sent, in chunks: a system call for each would cost more than a decision. */
export class LineQueue {
  readonly #chunks: string[] = []
  #last = ''
  #lastBytes = 0
  #bytes = 0
  #waiting: (() => void)[] = []

  get isFull(): boolean {
    return this.#bytes >= enoughBytes
  }

  get isEmpty(): boolean {
    return this.#bytes === 0
  }

  /** Whether a whole chunk waits. */
  get hasChunk(): boolean {
    return this.#chunks.length > 0
  }

  /** Drops the line when far too much waits already. */
  add(line: string): void {
    const bytes = Buffer.byteLength(line)
    if (this.#bytes + bytes > mostBytes) return
    this.#last += line
    this.#lastBytes += bytes
    this.#bytes += bytes
    if (this.#lastBytes >= chunkBytes) this.#endChunk()
  }

  /** The next chunk; undefined when nothing waits. */
  take(): Buffer | undefined {
    if (this.#chunks.length === 0) this.#endChunk()
    const chunk = this.#chunks.shift()
    if (chunk === undefined) return undefined
    const bytes = Buffer.from(chunk)
    this.#bytes -= bytes.length
    if (!this.isFull) this.release()
    return bytes
  }

  async room(): Promise<void> {
    if (this.isFull) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  /** Lets those go on who wait for room. */
  release(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
  }

  #endChunk(): void {
    if (this.#lastBytes === 0) return
    this.#chunks.push(this.#last)
    this.#last = ''
    this.#lastBytes = 0
  }
}

export interface ReportSettings {
  readonly log: Log
  /** As the log calls it: `statsd at localhost:8125`. */
  readonly name: string
  /** Whether somebody asked for this sink: otherwise nobody needs to hear that it is missing. */
  readonly isWanted: boolean
}

/** A sink that was well for so long has earned another line when it is lost again. */
const calmMs = 60_000

/** Says once that a sink is lost and once that it is back, however often it comes and goes. */
export class Reports {
  readonly #settings: ReportSettings
  #isLost = false
  #hasSaidLost = false
  #quietUntil = 0

  constructor(settings: ReportSettings) {
    this.#settings = settings
  }

  lost(reason: string): void {
    if (this.#isLost) return
    this.#isLost = true
    this.#hasSaidLost = performance.now() >= this.#quietUntil
    if (!this.#hasSaidLost) return
    const { log, name, isWanted } = this.#settings
    const message = `Statistics are not sent to ${name}: ${reason}`
    if (isWanted) log.warning(message)
    else log.info(message)
  }

  found(): void {
    if (!this.#isLost) return
    this.#isLost = false
    this.#quietUntil = performance.now() + calmMs
    if (this.#hasSaidLost) this.#settings.log.info(`Statistics are sent to ${this.#settings.name}`)
  }
}
