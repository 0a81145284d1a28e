import type { Log } from '../../log/log.ts'

/** A destination of lines. Writing never blocks: the caller checks `isFull` and awaits `room()` first. */
export interface Output {
  /** Whether there is a connection. */
  readonly isOpen: boolean
  /** Resolves when the first attempt to connect has succeeded or failed. */
  readonly tried: Promise<void>
  /** Called for each new connection; set by a caller that keeps lines until there is one. */
  onOpen?: (() => void) | undefined
  /** Whether the caller should await `room()` before it writes more. */
  readonly isFull: boolean
  /** Resolves when there is room, and also when the connection is lost. */
  room(): Promise<void>
  /** @param line is a whole line, including its line end. */
  write(line: string): void
  /** Sends the lines that wait to be sent together with others. */
  send(): void
  /** Resolves when everything is sent, or when the signal aborts. */
  close(giveUp: AbortSignal): Promise<void>
}

/** The output counts as full when this much waits to be sent. */
export const fullBytes = 128 << 10

/** The maximum size of the queue while the peer does not read. */
export const maxBytes = 4 << 20

const chunkBytes = 32 << 10

/** Lines that wait to be sent. They are sent in chunks, because a system call per line is expensive. */
export class LineQueue {
  readonly #chunks: string[] = []
  #last = ''
  #lastBytes = 0
  #bytes = 0
  #waiting: (() => void)[] = []

  get isFull(): boolean {
    return this.#bytes >= fullBytes
  }

  get isEmpty(): boolean {
    return this.#bytes === 0
  }

  /** Whether a whole chunk waits to be sent. */
  get hasChunk(): boolean {
    return this.#chunks.length > 0
  }

  /** Drops the line if the queue would exceed `maxBytes`. */
  add(line: string): void {
    const bytes = Buffer.byteLength(line)
    if (this.#bytes + bytes > maxBytes) return
    this.#last += line
    this.#lastBytes += bytes
    this.#bytes += bytes
    if (this.#lastBytes >= chunkBytes) this.#endChunk()
  }

  /** The next chunk; undefined if the queue is empty. */
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

  /** Resolves all pending calls of `room()`. */
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
  /** The name of the destination in the log: `statsd at localhost:8125`. */
  readonly name: string
  /** Whether the destination is configured explicitly. A default that is missing is only logged at level info. */
  readonly isWanted: boolean
}

/** A loss is logged again only if the connection was open for this long. */
const stableMs = 60_000

/** Logs once that a destination is lost and once that it is back, even if the connection flaps. */
export class Reports {
  readonly #settings: ReportSettings
  #isLost = false
  #hasLoggedLoss = false
  #quietUntil = 0

  constructor(settings: ReportSettings) {
    this.#settings = settings
  }

  lost(reason: string): void {
    if (this.#isLost) return
    this.#isLost = true
    this.#hasLoggedLoss = performance.now() >= this.#quietUntil
    if (!this.#hasLoggedLoss) return
    const { log, name, isWanted } = this.#settings
    const message = `Statistics are not sent to ${name}: ${reason}`
    if (isWanted) log.warning(message)
    else log.info(message)
  }

  found(): void {
    if (!this.#isLost) return
    this.#isLost = false
    this.#quietUntil = performance.now() + stableMs
    const { log, name } = this.#settings
    if (this.#hasLoggedLoss) log.info(`Statistics are sent to ${name}`)
  }
}
