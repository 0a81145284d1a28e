import { type Counted, StoreError } from '../counter-store.ts'
import type { NamedCounter, Target } from './named-counter.ts'
import { type CommandSender, Operation } from './operation.ts'
import { ProtocolError } from './reply-reader.ts'

/** One `add` or `read` while the nodes are being read. */
export class Call {
  readonly targets: readonly Target[]
  readonly deadlineMs: number
  readonly counted: Counted
  /** The number of nodes that have not answered yet. */
  nodesLeft = 0
  /** The number of counters that the nodes had. */
  found = 0
  /** The error of a node that could not be read, if any. */
  failure: StoreError | undefined
  readonly #onRead: (call: Call) => void

  constructor(
    targets: readonly Target[],
    deadlineMs: number,
    counted: Counted,
    onRead: (call: Call) => void,
  ) {
    this.targets = targets
    this.deadlineMs = deadlineMs
    this.counted = counted
    this.#onRead = onRead
  }

  endOfNode(found: number, failure: StoreError | undefined): void {
    this.found += found
    this.failure ??= failure
    this.nodesLeft--
    if (this.nodesLeft === 0) this.#onRead(this)
  }
}

/** The `get` of a call's counters on one node. */
export class Read extends Operation {
  readonly deadlineMs: number
  readonly #call: Call
  readonly #counters: readonly NamedCounter[]
  /** Values come in the order of the names, with gaps. */
  #next = 0
  #found = 0

  constructor(call: Call, counters: readonly NamedCounter[]) {
    super()
    this.deadlineMs = call.deadlineMs
    this.#call = call
    this.#counters = counters
    for (const counter of counters) counter.isMissing = true
  }

  get command(): string {
    let command = 'get'
    for (const { name } of this.#counters) command += ` ${name}`
    return `${command}\r\n`
  }

  override onValue(name: string, count: number): void {
    const counters = this.#counters
    for (let tried = 0; tried < counters.length; tried++) {
      const counter = counters[this.#next]
      this.#next = this.#next + 1 === counters.length ? 0 : this.#next + 1
      if (counter?.name !== name) continue
      if (this.isDone) return
      // A value that is not a number counts as 0; adding to it will fail, and the failure is logged.
      counter.count = Number.isNaN(count) ? 0 : count
      counter.isMissing = false
      this.#found++
      return
    }
    throw new ProtocolError('memcached sent a value that was not requested')
  }

  override onEnd(): void {
    if (this.isDone) return
    this.isDone = true
    this.#call.endOfNode(this.#found, undefined)
  }

  override onStatus(_from: CommandSender, text: string): void {
    if (!this.isDone) this.fail(new StoreError(text))
  }

  override fail(reason: StoreError): void {
    this.isDone = true
    // After an incomplete reply, a counter that is missing in it may still exist.
    for (const counter of this.#counters) counter.isMissing = false
    this.#call.endOfNode(0, reason)
  }
}
