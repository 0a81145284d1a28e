/** The bytes are not valid replies. Nothing after them can be trusted, so the connection must be closed. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError'
}

export interface ReplyHandler {
  /** One of the values of a `get`. A value that is not a count is NaN. */
  onValue(name: string, count: number): void
  /** The end of the values of a `get`. */
  onEnd(): void
  /** The reply to `incr` and `decr`. */
  onNumber(value: number): void
  /** `STORED`, `NOT_FOUND`, `SERVER_ERROR out of memory` … */
  onStatus(text: string): void
}

const LF = 10
const CR = 13
const SPACE = 32
const ZERO = 48
const NINE = 57
const valueWord = Buffer.from('VALUE ')
const endWord = Buffer.from('END')

/** More than the default maximum size of an item: no expected reply is that long. */
const maxRestBytes = 2_097_152
/** More digits than 64 bits have. */
const maxDigits = 20
const nothing = Buffer.alloc(0)

/** Parses replies of the text protocol from chunks that may be split anywhere. */
export class ReplyReader {
  readonly #handler: ReplyHandler
  #rest = nothing
  #isStopped = false

  constructor(handler: ReplyHandler) {
    this.#handler = handler
  }

  /** No further replies are passed on, not even those in the current chunk. */
  stop(): void {
    this.#isStopped = true
  }

  /**
   * @param chunk - may be reused afterwards
   * @throws ProtocolError
   */
  read(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    let at = 0
    while (!this.#isStopped) {
      const next = this.#readReply(bytes, at)
      if (next === at) break
      at = next
    }
    this.#rest = at === bytes.length ? nothing : Buffer.from(bytes.subarray(at))
    if (this.#rest.length > maxRestBytes) {
      throw new ProtocolError('memcached sent a reply that is too long')
    }
  }

  /** Returns where the next reply starts, or `at` when this one is incomplete. */
  #readReply(bytes: Buffer, at: number): number {
    const lf = bytes.indexOf(LF, at)
    if (lf < 0) return at
    const end = bytes[lf - 1] === CR && lf > at ? lf - 1 : lf
    const first = bytes[at] ?? 0
    if (first >= ZERO && first <= NINE) {
      this.#handler.onNumber(parseCount(bytes, at, end))
    } else if (startsWith(bytes, at, endWord) && end === at + endWord.length) {
      this.#handler.onEnd()
    } else if (startsWith(bytes, at, valueWord)) {
      return this.#readValue(bytes, at, end, lf + 1)
    } else {
      this.#handler.onStatus(bytes.toString('latin1', at, end))
    }
    return lf + 1
  }

  /** `VALUE <name> <flags> <length>[ <cas>]`, and after the line the value itself. */
  #readValue(bytes: Buffer, at: number, end: number, dataAt: number): number {
    const nameAt = at + valueWord.length
    const nameEnd = bytes.indexOf(SPACE, nameAt)
    const words = bytes.toString('latin1', nameEnd + 1, end).split(' ')
    const length = Number(words[1])
    if (nameEnd < 0 || nameEnd > end || !Number.isInteger(length) || length < 0) {
      throw new ProtocolError('memcached sent a value without a length')
    }
    const dataEnd = dataAt + length
    if (bytes.length < dataEnd + 2) return at
    if (bytes[dataEnd] !== CR || bytes[dataEnd + 1] !== LF) {
      throw new ProtocolError('memcached sent a value whose length is not the announced one')
    }
    const name = bytes.toString('utf8', nameAt, nameEnd)
    this.#handler.onValue(name, parseCount(bytes, dataAt, dataEnd))
    return dataEnd + 2
  }
}

/** After a `decr` to fewer digits, memcached pads the number with spaces. */
function parseCount(bytes: Buffer, start: number, end: number): number {
  let last = end
  while (last > start && bytes[last - 1] === SPACE) last--
  if (last === start || last - start > maxDigits) return Number.NaN
  let count = 0
  for (let at = start; at < last; at++) {
    const byte = bytes[at] ?? 0
    if (byte < ZERO || byte > NINE) return Number.NaN
    count = count * 10 + (byte - ZERO)
  }
  return count
}

function startsWith(bytes: Buffer, at: number, word: Buffer): boolean {
  for (let i = 0; i < word.length; i++) if (bytes[at + i] !== word[i]) return false
  return true
}
