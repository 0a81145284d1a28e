import type { Increment } from '../../counter-store.ts'
import type { OutstandingReplies } from '../../network/reply-watch.ts'
import type { Call } from './call.ts'

/** The kinds of outstanding replies. */
export const expected = {
  /** INCRBY of a known counter: it has a TTL, unless it has disappeared. */
  count: 0,
  /** INCRBY after a SET that created the counter. */
  firstCount: 1,
  /** INCRBY of a counter that another process created: its TTL may be too short. */
  foreignCount: 2,
  /** SET … NX before a `firstCount`. */
  creation: 3,
  /** GET, HMGET, or the script of one counter. */
  value: 4,
  /** EXPIRE, ASKING, PING: only an error matters. */
  nothing: 5,
  /** The script that changes all counters of a call. */
  counts: 6,
} as const

const initialCapacity = 256

/**
 * The outstanding replies in the order of the commands: a ring buffer in three arrays of the same length,
 * so that a command needs no allocation.
 */
export class ReplyQueue implements OutstandingReplies {
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

  /** Changes the kind of the oldest entry after an earlier reply. */
  reinterpret(kind: number): void {
    this.#kinds[this.#head] = kind
  }

  /** The call of the entry at this distance from the oldest one. */
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
