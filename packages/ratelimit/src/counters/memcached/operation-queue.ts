import type { RepliesOnTheWay } from '../network/reply-watch.ts'
import type { Operation } from './operation.ts'

const initialCapacity = 256

/** The operations on the way, in the order of their commands: a ring that grows. */
export class OperationQueue implements RepliesOnTheWay {
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

  /** The operation at a distance from the oldest. */
  waiterAt(distance: number): Operation | undefined {
    return this.#operations[(this.#head + distance) & this.#mask]
  }

  push(operation: Operation): void {
    if (this.#length > this.#mask) this.#grow()
    this.#operations[(this.#head + this.#length) & this.#mask] = operation
    this.#length++
  }

  /** Removes the oldest. */
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
