import type { FailureLog } from '@portcullis/service-kit/log/failure-log'
import { StoreError } from '../counter-store.ts'
import { type CommandSender, Operation } from './operation.ts'
import type { MemcachedStatistics } from './statistics.ts'

export interface WriteContext {
  readonly statistics: MemcachedStatistics
  readonly failures: FailureLog
  /** The expiration time of a counter that is created now, in the format of memcached. */
  readonly toExpiry: (lifeSeconds: number) => number
}

export interface Change {
  readonly name: string
  readonly hits: number
  /** How long the counter is needed after its creation. */
  readonly lifeSeconds: number
}

interface Step {
  /** The verb in log messages. */
  readonly verb: string
  readonly statistics: 'increment' | 'add'
  toCommand(change: Change, toExpiry: WriteContext['toExpiry']): string
  /** The reply on success, if it is not a number. */
  readonly success?: string
  /** The reply that means that another command is needed. */
  readonly refusal: string
  /** The next command to try, if any. */
  readonly next: () => Step | undefined
}

const increase: Step = {
  verb: 'increment',
  statistics: 'increment',
  toCommand: ({ name, hits }) => `incr ${name} ${hits}\r\n`,
  refusal: 'NOT_FOUND',
  next: () => addition,
}

const addition: Step = {
  verb: 'add',
  statistics: 'add',
  toCommand({ name, hits, lifeSeconds }, toExpiry) {
    const value = `${hits}`
    return `add ${name} 0 ${toExpiry(lifeSeconds)} ${value.length}\r\n${value}\r\n`
  },
  success: 'STORED',
  refusal: 'NOT_STORED',
  next: () => increase,
}

/** memcached stops at 0. A counter that does not exist has nothing to refund. */
const decrease: Step = {
  verb: 'decrement',
  statistics: 'increment',
  toCommand: ({ name, hits }) => `decr ${name} ${-hits}\r\n`,
  refusal: 'NOT_FOUND',
  next: () => undefined,
}

/** incr, add, incr: if the last one fails too, the counter is being deleted faster than it can be created. */
const maxSteps = 3

/**
 * Adds or refunds hits after the caller was answered.
 * @param isMissing - whether the read found no counter, so that `add` is more likely to succeed first
 */
export function write(
  to: CommandSender | undefined,
  change: Change,
  isMissing: boolean,
  context: WriteContext,
): void {
  const first = change.hits < 0 ? decrease : isMissing ? addition : increase
  send(to, new Write(first, change, context, maxSteps - 1))
}

function send(to: CommandSender | undefined, operation: Write): void {
  const refusal =
    to === undefined ? new StoreError('there is no node') : to.send(operation.command, operation)
  if (refusal !== undefined) operation.fail(refusal)
}

class Write extends Operation {
  /** No caller waits for it: it ends with its reply, or with the connection. */
  readonly deadlineMs = Number.POSITIVE_INFINITY
  readonly #step: Step
  readonly #change: Change
  readonly #context: WriteContext
  readonly #stepsLeft: number

  constructor(step: Step, change: Change, context: WriteContext, stepsLeft: number) {
    super()
    this.#step = step
    this.#change = change
    this.#context = context
    this.#stepsLeft = stepsLeft
  }

  get command(): string {
    return this.#step.toCommand(this.#change, this.#context.toExpiry)
  }

  override onNumber(from: CommandSender, value: number): void {
    if (this.#step.success !== undefined) super.onNumber(from, value)
    this.#statistics.success.value++
  }

  override onStatus(from: CommandSender, text: string): void {
    const { success, refusal } = this.#step
    if (text === success) this.#statistics.success.value++
    else if (text === refusal) this.#tryNext(from, text)
    else this.fail(new StoreError(text))
  }

  override fail(reason: StoreError): void {
    this.isDone = true
    this.#statistics.error.value++
    const [{ verb }, { name }] = [this.#step, this.#change]
    this.#context.failures.report(() => `Failed to ${verb} key ${name}: ${reason.message}`)
  }

  get #statistics() {
    return this.#context.statistics[this.#step.statistics]
  }

  #tryNext(from: CommandSender, text: string): void {
    this.#statistics.refused.value++
    const next = this.#step.next()
    if (next === undefined) return
    if (this.#stepsLeft === 0) this.fail(new StoreError(text))
    else send(from, new Write(next, this.#change, this.#context, this.#stepsLeft - 1))
  }
}
