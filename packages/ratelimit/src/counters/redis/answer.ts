import { type Increment, StoreError } from '../counter-store.ts'
import { toShare } from '../sliding-window.ts'
import type { Call } from './call.ts'
import type { Connection } from './connection.ts'
import type { Reply } from './resp-reader.ts'

/**
 * Ends one increment of a call with what a command or script replied.
 * @param previous of a sliding counter what the window before counts.
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

/** What was only read comes as the counts of the two windows. */
export function toSum(
  { overlapMs, unitSeconds }: Increment,
  current: Reply | undefined,
  previous: Reply | undefined,
): number {
  return Number(current ?? 0) + toShare(Number(previous ?? 0), overlapMs, unitSeconds)
}
