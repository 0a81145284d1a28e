import type { Counted, CounterStore, Increment, StoreError } from './counter-store.ts'

export interface PerSecondSettings {
  /** Gets the counters of limits per second. */
  readonly perSecond: CounterStore
  /** Gets all others. */
  readonly others: CounterStore
}

/**
 * Routes limits per second to a store of their own (5.13). Both are asked at the same time, and a
 * failure of either fails the call. A call that needs only one never touches the other.
 */
export function createPerSecondRouter({ perSecond, others }: PerSecondSettings): CounterStore {
  function route(
    method: 'add' | 'read',
    increments: readonly Increment[],
    deadlineMs: number,
    counted: Counted,
  ): void {
    let fast = 0
    for (const { unitSeconds } of increments) if (unitSeconds === 1) fast++
    if (fast === 0) {
      others[method](increments, deadlineMs, counted)
    } else if (fast === increments.length) {
      perSecond[method](increments, deadlineMs, counted)
    } else {
      const both = awaitBoth(counted)
      perSecond[method](increments.filter(isPerSecond), deadlineMs, both)
      others[method](
        increments.filter((increment) => !isPerSecond(increment)),
        deadlineMs,
        both,
      )
    }
  }

  return {
    add: (increments, deadlineMs, counted) => route('add', increments, deadlineMs, counted),
    read: (increments, deadlineMs, counted) => route('read', increments, deadlineMs, counted),
    async [Symbol.asyncDispose]() {
      await Promise.all([perSecond[Symbol.asyncDispose](), others[Symbol.asyncDispose]()])
    },
  }
}

function isPerSecond({ unitSeconds }: Increment): boolean {
  return unitSeconds === 1
}

/** Calls back at the second success, or at once at the first failure. */
function awaitBoth(counted: Counted): Counted {
  let successes = 0
  let isOver = false
  return (error: StoreError | undefined) => {
    if (isOver || (error === undefined && ++successes < 2)) return
    isOver = true
    counted(error)
  }
}
