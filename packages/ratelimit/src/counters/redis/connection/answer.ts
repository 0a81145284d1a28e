import { type Increment, StoreError } from '../../counter-store.ts'
import { toShare } from '../../sliding-window.ts'
import type { Call } from './call.ts'
import type { Connection } from './connection.ts'
import type { Reply } from './resp-reader.ts'

/**
 * Completes one increment of a call with the reply of a command or script.
 * @param previous - the count of the previous window of a sliding counter
 */
export function answer(
  from: Connection,
  call: Call,
  increment: Increment,
  reply: Reply | undefined,
  previous: Reply | undefined,
): void {
  const [count, before] = [Number(reply ?? 0), Number(previous ?? 0)]
  if (!Number.isInteger(count) || !Number.isInteger(before)) {
    call.fail(new StoreError(`${from.name}: the counter is not a number`))
    return
  }
  if (increment.overlapMs > 0 && !call.isDone) increment.previous = before
  call.answer(increment, count)
}

/** A read returns the counts of both windows, which are combined here. */
export function toSum(
  { overlapMs, unitSeconds }: Increment,
  current: Reply | undefined,
  previous: Reply | undefined,
): number {
  return Number(current ?? 0) + toShare(Number(previous ?? 0), overlapMs, unitSeconds)
}
