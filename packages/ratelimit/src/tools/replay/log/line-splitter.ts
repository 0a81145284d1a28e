const newline = 0x0a
const carriageReturn = 0x0d

/** Logs have no longer lines: the file is something else, which must not fill the memory. */
export const longestLineBytes = 1 << 20

export interface LineHandler {
  line(text: string): void
  /** Called in place of a line that is too long. */
  tooLong(): void
}

/** Splits chunks into lines, which may end with `\r\n`. The last line needs no line break. */
export class LineSplitter {
  readonly #handler: LineHandler
  /** The start of a line whose end has not been read yet. */
  #begun: Buffer[] = []
  #begunBytes = 0
  #isSkipping = false

  constructor(handler: LineHandler) {
    this.#handler = handler
  }

  push(chunk: Buffer): void {
    let start = 0
    if (this.#begunBytes > 0 || this.#isSkipping) {
      const end = chunk.indexOf(newline)
      this.#begin(end === -1 ? chunk : chunk.subarray(0, end))
      if (end === -1) return
      this.#finish()
      start = end + 1
    }
    const last = chunk.lastIndexOf(newline)
    // All complete lines are decoded at once: decoding each separately takes twice as long.
    if (last >= start) this.#take(chunk.toString('utf8', start, last))
    this.#begin(chunk.subarray(Math.max(start, last + 1)))
  }

  end(): void {
    if (this.#begunBytes > 0 || this.#isSkipping) this.#finish()
  }

  #take(text: string): void {
    let start = 0
    for (;;) {
      const end = text.indexOf('\n', start)
      if (end === -1) break
      this.#takeLine(text, start, end)
      start = end + 1
    }
    this.#takeLine(text, start, text.length)
  }

  #takeLine(text: string, start: number, end: number): void {
    const hasReturn = end > start && text.charCodeAt(end - 1) === carriageReturn
    this.#handler.line(text.slice(start, hasReturn ? end - 1 : end))
  }

  #begin(bytes: Buffer): void {
    if (bytes.length === 0 || this.#isSkipping) return
    // A copy, so that the chunk can be released.
    this.#begun.push(Buffer.from(bytes))
    this.#begunBytes += bytes.length
    if (this.#begunBytes <= longestLineBytes) return
    this.#isSkipping = true
    this.#begun = []
    this.#begunBytes = 0
  }

  #finish(): void {
    const isTooLong = this.#isSkipping
    const text = Buffer.concat(this.#begun).toString('utf8')
    this.#begun = []
    this.#begunBytes = 0
    this.#isSkipping = false
    if (isTooLong) this.#handler.tooLong()
    else this.#takeLine(text, 0, text.length)
  }
}
