import type { Increment } from '../counter-store.ts'
import type { RepliesOnTheWay } from '../network/reply-watch.ts'
import type { Call } from './call.ts'

/** What a reply that is on the way belongs to. */
export const expected = {
  /** INCRBY of a counter this process knows: it has a TTL, unless it vanished meanwhile. */
  count: 0,
  /** INCRBY after a SET that made the counter. */
  firstCount: 1,
  /** INCRBY of a counter that somebody else made: its TTL is not known to be long enough. */
  foreignCount: 2,
  /** SET … NX before a `firstCount`. */
  creation: 3,
  /** GET, HMGET, or the script of one counter. */
  value: 4,
  /** EXPIRE, ASKING, PING: only an error would say something. */
  nothing: 5,
  /** The script that changes all counters of a call. */
  counts: 6,
} as const

const initialCapacity = 256

/**
 * What the replies on the way belong to, in the order of the commands. A ring in three arrays of the
 * same length: a command costs three stores and no object.
 */
export class ReplyQueue implements RepliesOnTheWay {
  #kinds = new Uint8Array(initialCapacity)
  #calls: (Call | undefined)[] = new Array(initialCapacity).fill(undefined)
  #increments: (Increment | undefined)[] = new Array(initialCapacity).fill(undefined)
  #mask = initialCapacity - 1
  #head = 0
  #length = 0

  get length(): number {
    return this.#length
  }

  /** The oldest entry. */
  get kind(): number {
    return this.#kinds[this.#head] ?? expected.nothing
  }

  get call(): Call | undefined {
    return this.#calls[this.#head]
  }

  get increment(): Increment | undefined {
    return this.#increments[this.#head]
  }

  push(kind: number, call: Call | undefined, increment: Increment | undefined): void {
    if (this.#length > this.#mask) this.#grow()
    const at = (this.#head + this.#length) & this.#mask
    this.#kinds[at] = kind
    this.#calls[at] = call
    this.#increments[at] = increment
    this.#length++
  }

  /** Removes the oldest entry. */
  shift(): void {
    this.#calls[this.#head] = undefined
    this.#increments[this.#head] = undefined
    this.#head = (this.#head + 1) & this.#mask
    this.#length--
  }

  /** Changes what the oldest entry means: a reply before it told more. */
  reinterpret(kind: number): void {
    this.#kinds[this.#head] = kind
  }

  /** The call of the entry at a distance from the oldest. */
  waiterAt(distance: number): Call | undefined {
    return this.#calls[(this.#head + distance) & this.#mask]
  }

  #grow(): void {
    const capacity = this.#mask + 1
    const kinds = new Uint8Array(capacity * 2)
    const calls: (Call | undefined)[] = new Array(capacity * 2).fill(undefined)
    const increments: (Increment | undefined)[] = new Array(capacity * 2).fill(undefined)
    for (let i = 0; i < this.#length; i++) {
      const at = (this.#head + i) & this.#mask
      kinds[i] = this.#kinds[at] ?? expected.nothing
      calls[i] = this.#calls[at]
      increments[i] = this.#increments[at]
    }
    this.#kinds = kinds
    this.#calls = calls
    this.#increments = increments
    this.#mask = capacity * 2 - 1
    this.#head = 0
  }
}
