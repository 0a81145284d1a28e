import { StoreError } from '../counter-store.ts'
import type { OutstandingReplies } from '../network/reply-watch.ts'
import { ProtocolError } from './reply-reader.ts'

/** The connection on which a reply arrived: the next command of the same change uses it too. */
export interface CommandSender {
  /** Returns the reason if the command cannot be sent. */
  send(command: string, operation: Operation): StoreError | undefined
}

/**
 * A command whose reply is outstanding. Each kind handles the replies that it can have; any other reply
 * means that the connection is out of sync.
 */
export abstract class Operation {
  /** When the caller stops waiting, on the clock of `performance.now()`. A later reply is ignored. */
  abstract readonly deadlineMs: number
  isDone = false

  /** No reply arrived in time, or the connection was lost. */
  abstract fail(reason: StoreError): void

  onValue(_name: string, _count: number): void {
    this.#refuse('a value')
  }

  onEnd(): void {
    this.#refuse('END')
  }

  onNumber(_from: CommandSender, _value: number): void {
    this.#refuse('a number')
  }

  onStatus(_from: CommandSender, text: string): void {
    this.#refuse(text.slice(0, 100))
  }

  #refuse(what: string): never {
    const message = `memcached sent ${what} in reply to another command`
    if (!this.isDone) this.fail(new StoreError(message))
    throw new ProtocolError(message)
  }
}

/** A `get` that detects a lost node before a call does. */
export class Ping extends Operation {
  readonly deadlineMs = Number.POSITIVE_INFINITY

  override fail(): void {}

  override onValue(): void {}

  override onEnd(): void {}

  override onStatus(): void {}
}

/** Any valid name works; it does not matter whether the node has it. */
export const pingCommand = 'get portcullis_ping\r\n'

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
