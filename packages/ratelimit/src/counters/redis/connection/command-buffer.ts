import type { EncodedKey } from '../../../structures/key-bytes.ts'
import type { Increment } from '../../counter-store.ts'
import { findCountHead, type TextWords, toTextWords, WindowTexts } from './text-words.ts'

/** A key as text, or in ASCII and already encoded. */
type Key = string | EncodedKey

const initialBytes = 16_384
const keptBytes = 1_048_576

const create = toTextWords('*6\r\n$3\r\nSET\r\n')
const createEnd = toTextWords('$2\r\nNX\r\n')
const noCount = toTextWords('$1\r\n0\r\n$2\r\nEX\r\n')
const incrBy = toTextWords('*3\r\n$6\r\nINCRBY\r\n')
const oneHit = toTextWords('$1\r\n1\r\n')
const expire = toTextWords('*3\r\n$6\r\nEXPIRE\r\n')
const get = toTextWords('*2\r\n$3\r\nGET\r\n')
const getWindows = toTextWords('*4\r\n$5\r\nHMGET\r\n')

// Longer than everything around a key in a command: prefix, two lengths, window and two numbers.
const frameBytes = 128
// Seven numbers of up to 21 digits, each with a line for its length.
const valuesBytes = 256

const CR = 13
const LF = 10
const DOLLAR = 36
const STAR = 42
const ZERO = 48
const SECONDS = 115

/**
 * The encoded commands of one turn of the event loop, which are sent in one write. A fixed counter is named
 * `<key><window in decimal>` in UTF-8, the format of envoyproxy/ratelimit; a sliding one, which is a hash
 * with a field per window, is named `<key><seconds of a window>s`.
 */
export class CommandBuffer {
  #bytes: Buffer = Buffer.allocUnsafe(initialBytes)
  #view = toView(this.#bytes)
  #length = 0
  readonly #windows = new WindowTexts()

  get length(): number {
    return this.#length
  }

  /** `SET key 0 EX ttl NX`: the counter gets its TTL before its first hit. */
  createCounter(key: Key, window: number, ttlSeconds: number): void {
    this.#start(create, key, window)
    this.#append(noCount)
    this.#number(ttlSeconds)
    this.#append(createEnd)
  }

  /** `INCRBY key hits` */
  count(key: Key, window: number, hits: number): void {
    if (hits === 1 && typeof key !== 'string') {
      this.#countOne(key, window)
      return
    }
    this.#start(incrBy, key, window)
    if (hits === 1) this.#append(oneHit)
    else this.#number(hits)
  }

  /** `EXPIRE key ttl` */
  expire(key: Key, window: number, ttlSeconds: number): void {
    this.#start(expire, key, window)
    this.#number(ttlSeconds)
  }

  /** `GET key` */
  read(key: string, window: number): void {
    this.#start(get, key, window)
  }

  /** `HMGET key window previous` */
  readWindows({ key, window, unitSeconds }: Increment): void {
    this.#reserve(key.length * 3 + frameBytes)
    this.#append(getWindows)
    this.#name(key, unitSeconds, true)
    this.#number(window)
    this.#number(window - unitSeconds)
  }

  /** The start of a command that runs a script: its words up to the keys. */
  startScript(call: Buffer, keys: number, values: number): void {
    this.#reserve(call.length + frameBytes)
    this.#bytes[this.#length++] = STAR
    this.#line(3 + keys + values)
    this.#bytes.set(call, this.#length)
    this.#length += call.length
    this.#number(keys)
  }

  /** The next word is the name of a counter. */
  addName({ key, window, unitSeconds, overlapMs }: Increment): void {
    this.#reserve(key.length * 3 + frameBytes)
    if (overlapMs > 0) this.#name(key, unitSeconds, true)
    else this.#name(key, window, false)
  }

  /** The next words are the arguments of a script for a counter. */
  addValues({ window, unitSeconds, overlapMs, hits, most }: Increment, ttlSeconds: number): void {
    this.#reserve(valuesBytes)
    this.#number(window)
    this.#number(window - unitSeconds)
    this.#number(overlapMs)
    this.#number(unitSeconds * 1000)
    this.#number(hits)
    this.#number(most)
    this.#number(ttlSeconds)
  }

  addNumber(value: number): void {
    this.#reserve(frameBytes)
    this.#number(value)
  }

  /** A command that is too rare to have its own method. */
  command(words: readonly string[]): void {
    let text = `*${words.length}\r\n`
    for (const word of words) text += `$${Buffer.byteLength(word)}\r\n${word}\r\n`
    this.#reserve(text.length * 3)
    this.#length += this.#bytes.write(text, this.#length)
  }

  /** The bytes collected so far. The buffer still owns them: call `clear` or `handOver` next. */
  get collected(): Buffer {
    return this.#bytes.subarray(0, this.#length)
  }

  clear(): void {
    if (this.#bytes.length > keptBytes) this.handOver()
    this.#length = 0
  }

  /** The collected bytes are still being sent, so new commands go to another buffer. */
  handOver(): void {
    this.#length = 0
    this.#use(Buffer.allocUnsafe(initialBytes))
  }

  #start(command: TextWords, key: Key, window: number): void {
    const isText = typeof key === 'string'
    this.#reserve((isText ? key.length * 3 : key.byteLength) + frameBytes)
    this.#append(command)
    if (isText) this.#name(key, window, false)
    else this.#encodedName(key, window)
  }

  /** Nearly every command: it is put together from three texts. */
  #countOne({ words, start, byteLength }: EncodedKey, window: number): void {
    const { digits, countOne } = this.#windows.find(window)
    this.#reserve(byteLength + frameBytes)
    const nameBytes = byteLength + digits
    const head = findCountHead(nameBytes)
    if (head === undefined) {
      this.#append(incrBy)
      this.#lengthLine(nameBytes)
    } else {
      this.#append(head)
    }
    this.#putWords(words, start, byteLength)
    this.#append(countOne)
  }

  #encodedName({ words, start, byteLength }: EncodedKey, window: number): void {
    const windowLine = this.#windows.find(window).line
    this.#lengthLine(byteLength + windowLine.byteLength - 2)
    this.#putWords(words, start, byteLength)
    this.#putWords(windowLine.words, 0, windowLine.byteLength)
  }

  /** Copies words in a loop, which is faster than a native copy of less than about 100 bytes. */
  #putWords(words: Int32Array, start: number, byteLength: number): void {
    const view = this.#view
    const end = start + ((byteLength + 3) >> 2)
    // The padding of the last word is overwritten by what follows.
    for (let from = start, to = this.#length; from < end; from += 1, to += 4) {
      view.setInt32(to, words[from] ?? 0, true)
    }
    this.#length += byteLength
  }

  /** @param suffix - the window, or for a sliding counter the length of a window in seconds */
  #name(key: string, suffix: number, isSliding: boolean): void {
    const start = this.#length
    const keyBytes = this.#tryName(key, key.length, suffix, isSliding)
    if (keyBytes === key.length) return
    // The key is not ASCII, so the announced length is wrong.
    this.#length = start
    this.#tryName(key, keyBytes, suffix, isSliding)
  }

  /** Writes the name of a counter and returns the length of its key in bytes. */
  #tryName(key: string, keyBytes: number, suffix: number, isSliding: boolean): number {
    const digits = digitsOf(suffix)
    this.#lengthLine(keyBytes + digits + (isSliding ? 1 : 0))
    const written = this.#bytes.write(key, this.#length)
    this.#length += written
    this.#digits(suffix, digits)
    if (isSliding) this.#bytes[this.#length++] = SECONDS
    this.#endLine()
    return written
  }

  #number(value: number): void {
    if (value < 0 || value > 0x7fffffff) {
      const text = BigInt(value).toString()
      this.#lengthLine(text.length)
      this.#length += this.#bytes.write(text, this.#length)
    } else {
      const digits = digitsOf(value)
      this.#lengthLine(digits)
      this.#digits(value, digits)
    }
    this.#endLine()
  }

  #lengthLine(length: number): void {
    this.#bytes[this.#length++] = DOLLAR
    this.#line(length)
  }

  #line(value: number): void {
    this.#digits(value, digitsOf(value))
    this.#endLine()
  }

  #digits(value: number, count: number): void {
    const end = this.#length + count
    let rest = value
    for (let at = end - 1; at >= this.#length; at--) {
      const tenth = Math.floor(rest / 10)
      this.#bytes[at] = ZERO + (rest - tenth * 10)
      rest = tenth
    }
    this.#length = end
  }

  #endLine(): void {
    this.#bytes[this.#length++] = CR
    this.#bytes[this.#length++] = LF
  }

  #append({ words, byteLength }: TextWords): void {
    this.#putWords(words, 0, byteLength)
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes
    if (needed <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2))
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#use(larger)
  }

  #use(bytes: Buffer): void {
    this.#bytes = bytes
    this.#view = toView(bytes)
  }
}

function toView(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
}

function digitsOf(value: number): number {
  if (value < 10) return 1
  if (value < 100) return 2
  if (value < 1000) return 3
  let digits = 4
  for (let bound = 10_000; bound <= value; bound *= 10) digits++
  return digits
}
