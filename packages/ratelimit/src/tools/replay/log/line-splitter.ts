const newline = 0x0a
const carriageReturn = 0x0d

/** Longer ones are in no log: something else is being read, and it must not fill the memory. */
export const longestLineBytes = 1 << 20

export interface LineTaker {
  line(text: string): void
  /** A line that is too long, in its place. */
  tooLong(): void
}

/** Cuts what is read into lines, which may end with `\r\n`. The last one needs no end. */
export class LineSplitter {
  readonly #taker: LineTaker
  /** The start of a line whose end was not read yet. */
  #begun: Buffer[] = []
  #begunBytes = 0
  #isSkipping = false

  constructor(taker: LineTaker) {
    this.#taker = taker
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
    // All whole lines become text at once: to decode each by itself takes twice as long.
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
    this.#taker.line(text.slice(start, hasReturn ? end - 1 : end))
  }

  #begin(bytes: Buffer): void {
    if (bytes.length === 0 || this.#isSkipping) return
    // A copy: the rest of the chunk can go.
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
    if (isTooLong) this.#taker.tooLong()
    else this.#takeLine(text, 0, text.length)
  }
}
