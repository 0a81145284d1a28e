/** A reply of a Redis server (RESP 2). */
export type Reply = number | string | null | ReplyError | readonly Reply[]

/** An error reply: `-READONLY You can't write against a read only replica.` */
export class ReplyError extends Error {
  override readonly name = 'ReplyError'

  /** The first word, such as `READONLY`, `MOVED` or `ERR`. */
  get code(): string {
    const space = this.message.indexOf(' ')
    return space < 0 ? this.message : this.message.slice(0, space)
  }
}

/** The bytes are not valid replies. Nothing after them can be trusted, so the connection must be closed. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError'
}

export interface ReplyHandler {
  /** Integers have a separate method, because INCRBY returns one. */
  onInteger(value: number): void
  onReply(reply: Reply): void
}

const CR = 13
const LF = 10
const MINUS = 45
const ZERO = 48
const NINE = 57
const [SIMPLE, ERROR, INTEGER, BULK, ARRAY] = [43, 45, 58, 36, 42] as const

/** The state of the parser: the part of a reply that the next byte belongs to. */
const [AT_TYPE, IN_NUMBER, IN_LINE, AT_LF, IN_BULK, AT_BULK_CR, AT_BULK_LF] = [
  0, 1, 2, 3, 4, 5, 6,
] as const

// Far longer than any expected reply: a counter, a slot map or the reply of a sentinel.
const maxLineBytes = 65_536
const maxBulkBytes = 16_777_216
const maxItems = 1_048_576
const mostDigits = 20
const maxDepth = 16

interface OpenArray {
  readonly items: Reply[]
  readonly length: number
}

/** Parses replies from chunks that may be split anywhere. Integers need no allocation. */
export class RespReader {
  #handler: ReplyHandler
  #isStopped = false
  #state: number = AT_TYPE
  #type = 0
  #number = 0
  #isNegative = false
  #digits = 0
  #text = Buffer.allocUnsafe(256)
  #textLength = 0
  readonly #arrays: OpenArray[] = []

  constructor(handler: ReplyHandler) {
    this.#handler = handler
  }

  /** The next reply goes to the new handler, even in the middle of a chunk. */
  set handler(handler: ReplyHandler) {
    this.#handler = handler
  }

  /** No further replies are passed on, not even those in the current chunk. */
  stop(): void {
    this.#isStopped = true
  }

  /** @throws ProtocolError */
  read(bytes: Uint8Array, length: number): void {
    let at = 0
    while (at < length && !this.#isStopped) {
      at = this.#readIntegers(bytes, at, length)
      if (at === length || this.#isStopped) return
      const state = this.#state
      if (state === IN_NUMBER) at = this.#readNumber(bytes, at, length)
      else if (state === IN_LINE) at = this.#readLine(bytes, at, length)
      else if (state === IN_BULK) at = this.#readBulk(bytes, at, length)
      else this.#readByte(bytes[at++] ?? 0)
    }
  }

  /**
   * Reads integers that are complete in this chunk, which are nearly all replies, without storing any state.
   * Returns where something else begins.
   */
  #readIntegers(bytes: Uint8Array, start: number, length: number): number {
    if (this.#state !== AT_TYPE || this.#arrays.length > 0) return start
    let at = start
    while (at < length && bytes[at] === INTEGER) {
      let value = 0
      let next = at + 1
      for (; next < length; next++) {
        const digit = (bytes[next] ?? 0) - ZERO
        if (digit < 0 || digit > 9) break
        value = value * 10 + digit
      }
      const digits = next - at - 1
      const isComplete = next + 1 < length && bytes[next] === CR && bytes[next + 1] === LF
      if (!isComplete || digits === 0 || digits > mostDigits) return at
      at = next + 2
      this.#handler.onInteger(value)
      if (this.#isStopped) return at
    }
    return at
  }

  #readByte(byte: number): void {
    if (this.#state === AT_TYPE) {
      if (byte === INTEGER || byte === BULK || byte === ARRAY) this.#state = IN_NUMBER
      else if (byte === SIMPLE || byte === ERROR) this.#state = IN_LINE
      else throw new ProtocolError(`Redis sent an invalid reply: it starts with byte ${byte}`)
      this.#type = byte
      this.#number = 0
      this.#digits = 0
      this.#isNegative = false
      this.#textLength = 0
    } else if (this.#state === AT_BULK_CR) {
      if (byte !== CR)
        throw new ProtocolError('Redis sent a string whose length is not the announced one')
      this.#state = AT_BULK_LF
    } else if (byte !== LF) {
      throw new ProtocolError('Redis sent a line that does not end in CR LF')
    } else {
      this.#endLine()
    }
  }

  #readNumber(bytes: Uint8Array, start: number, length: number): number {
    let value = this.#number
    let at = start
    for (; at < length; at++) {
      const byte = bytes[at] ?? 0
      if (byte >= ZERO && byte <= NINE) {
        value = value * 10 + (byte - ZERO)
      } else if (byte === CR) {
        this.#digits += at - start
        if (this.#digits === 0 || this.#digits > mostDigits) {
          throw new ProtocolError('Redis sent a number without digits or with too many')
        }
        this.#number = value
        this.#state = AT_LF
        // Nearly every reply of a busy connection ends here, within its chunk.
        if (at + 1 === length || bytes[at + 1] !== LF) return at + 1
        this.#endLine()
        return at + 2
      } else if (byte === MINUS && this.#digits + at - start === 0 && !this.#isNegative) {
        this.#isNegative = true
        this.#number = 0
        return at + 1
      } else {
        throw new ProtocolError(`Redis sent byte ${byte} in a number`)
      }
    }
    this.#number = value
    this.#digits += at - start
    return at
  }

  #readLine(bytes: Uint8Array, start: number, length: number): number {
    const found = bytes.subarray(0, length).indexOf(CR, start)
    const end = found < 0 ? length : found
    this.#keepText(bytes, start, end, maxLineBytes)
    if (found < 0) return length
    this.#state = AT_LF
    return end + 1
  }

  #readBulk(bytes: Uint8Array, start: number, length: number): number {
    const end = Math.min(length, start + this.#number - this.#textLength)
    this.#keepText(bytes, start, end, maxBulkBytes)
    if (this.#textLength === this.#number) this.#state = AT_BULK_CR
    return end
  }

  #keepText(bytes: Uint8Array, start: number, end: number, maxBytes: number): void {
    const length = this.#textLength + end - start
    if (length > maxBytes) throw new ProtocolError('Redis sent a reply that is too long')
    if (length > this.#text.length) {
      const larger = Buffer.allocUnsafe(Math.max(length, this.#text.length * 2))
      this.#text.copy(larger, 0, 0, this.#textLength)
      this.#text = larger
    }
    this.#text.set(bytes.subarray(start, end), this.#textLength)
    this.#textLength = length
  }

  #endLine(): void {
    const type = this.#type
    if (this.#state === AT_BULK_LF) {
      this.#state = AT_TYPE
      this.#deliver(this.#takeText())
      return
    }
    this.#state = AT_TYPE
    if (type === INTEGER) {
      const value = this.#isNegative ? -this.#number : this.#number
      if (this.#arrays.length === 0) this.#handler.onInteger(value)
      else this.#deliver(value)
    } else if (type === SIMPLE) {
      this.#deliver(this.#takeText())
    } else if (type === ERROR) {
      this.#deliver(new ReplyError(this.#takeText()))
    } else {
      this.#startCounted(type)
    }
  }

  #startCounted(type: number): void {
    if (this.#isNegative) {
      if (this.#number !== 1) throw new ProtocolError('Redis sent a negative length')
      this.#deliver(null)
    } else if (type === BULK) {
      if (this.#number > maxBulkBytes)
        throw new ProtocolError('Redis sent a reply that is too long')
      this.#state = this.#number === 0 ? AT_BULK_CR : IN_BULK
    } else {
      const length = this.#number
      if (length > maxItems || this.#arrays.length === maxDepth) {
        throw new ProtocolError('Redis sent a list that is too long or too deep')
      }
      if (length === 0) this.#deliver([])
      else this.#arrays.push({ items: [], length })
    }
  }

  #takeText(): string {
    const text = this.#text.toString('utf8', 0, this.#textLength)
    if (this.#text.length > maxLineBytes) this.#text = Buffer.allocUnsafe(256)
    this.#textLength = 0
    return text
  }

  #deliver(reply: Reply): void {
    let value = reply
    for (let array = this.#arrays.at(-1); array; array = this.#arrays.at(-1)) {
      array.items.push(value)
      if (array.items.length < array.length) return
      this.#arrays.pop()
      value = array.items
    }
    if (typeof value === 'number') this.#handler.onInteger(value)
    else this.#handler.onReply(value)
  }
}
