import type { OutstandingReplies } from '../network/reply-watch.ts'
import type { Operation } from './operation.ts'

const initialCapacity = 256

/** The outstanding operations in the order of their commands: a growing ring buffer. */
export class OperationQueue implements OutstandingReplies {
  #operations: (Operation | undefined)[] = new Array(initialCapacity).fill(undefined)
  #mask = initialCapacity - 1
  #head = 0
  #length = 0

  get length(): number {
    return this.#length
  }

  get oldest(): Operation | undefined {
    return this.#operations[this.#head]
  }

  /** The operation at this distance from the oldest one. */
  waiterAt(distance: number): Operation | undefined {
    return this.#operations[(this.#head + distance) & this.#mask]
  }

  push(operation: Operation): void {
    if (this.#length > this.#mask) this.#grow()
    this.#operations[(this.#head + this.#length) & this.#mask] = operation
    this.#length++
  }

  /** Removes the oldest operation. */
  shift(): Operation | undefined {
    if (this.#length === 0) return undefined
    const operation = this.#operations[this.#head]
    this.#operations[this.#head] = undefined
    this.#head = (this.#head + 1) & this.#mask
    this.#length--
    return operation
  }

  #grow(): void {
    const ordered = Array.from({ length: this.#length }, (_, i) => this.waiterAt(i))
    this.#operations = ordered.concat(new Array(this.#length).fill(undefined))
    this.#mask = this.#operations.length - 1
    this.#head = 0
  }
}
