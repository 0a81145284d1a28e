import type { Counted, CounterStore, Increment } from './counter-store.ts'

/**
 * `addSparing` in two steps, for counters on several servers, which cannot be changed atomically.
 * Concurrent requests may both find room, so a request that is then refused may have been counted in
 * another counter. No request above a limit is allowed, because the second step decides.
 */
export function readThenAdd(
  store: Pick<CounterStore, 'add' | 'read'>,
  increments: readonly Increment[],
  deadlineMs: number,
  counted: Counted,
): void {
  store.read(increments, deadlineMs, (error) => {
    if (error !== undefined) {
      counted(error)
      return
    }
    const isOver = increments.some((increment) => increment.isStrict && !hasRoom(increment))
    const toAdd = isOver ? increments.map(withoutHits) : increments
    store.add(toAdd, deadlineMs, (failure) => {
      if (isOver) copyCounts(toAdd, increments)
      counted(failure)
    })
  })
}

function hasRoom({ after, hits, most }: Increment): boolean {
  return after + hits <= most
}

/** Leaves out the hits of a counter that has room. Refunds, and hits without room, are added. */
function withoutHits(increment: Increment): Increment {
  const { key, window, unitSeconds, hits, most, isStrict, overlapMs, after, previous } = increment
  const added = hits > 0 && hasRoom(increment) ? 0 : hits
  return { key, window, unitSeconds, hits: added, most, isStrict, overlapMs, after, previous }
}

/**
 * A counter without room stays refused even if a concurrent refund made room, because the other counters
 * were left unchanged.
 */
function copyCounts(from: readonly Increment[], to: readonly Increment[]): void {
  for (const [index, increment] of to.entries()) {
    const counted = from[index]
    if (counted === undefined) continue
    const wasOver = increment.isStrict && !hasRoom(increment)
    const least = wasOver ? increment.after + increment.hits : 0
    increment.after = Math.max(least, counted.after)
    increment.previous = counted.previous
  }
}
