import { enoughBytes, mostBytes } from './output.ts'

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
