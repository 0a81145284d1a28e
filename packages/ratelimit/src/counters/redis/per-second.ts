import type { Counted, CounterStore, Increment, StoreError } from '../counter-store.ts'
import { readThenAdd } from '../read-then-add.ts'

export interface PerSecondSettings {
  /** The store for limits per second. */
  readonly perSecond: CounterStore
  /** The store for all other limits. */
  readonly others: CounterStore
}

/**
 * Routes limits per second to a separate store. Both stores are called at the same time, and a failure of
 * either fails the call. A call that needs only one never uses the other.
 */
export function createPerSecondRouter({ perSecond, others }: PerSecondSettings): CounterStore {
  /** Returns the only store that is needed, or undefined when both are. */
  function toOnly(increments: readonly Increment[]): CounterStore | undefined {
    let fast = 0
    for (const { unitSeconds } of increments) if (unitSeconds === 1) fast++
    if (fast === 0) return others
    return fast === increments.length ? perSecond : undefined
  }

  function callBoth(
    method: 'add' | 'read',
    increments: readonly Increment[],
    deadlineMs: number,
    counted: Counted,
  ): void {
    const both = awaitBoth(counted)
    perSecond[method](increments.filter(isPerSecond), deadlineMs, both)
    others[method](
      increments.filter((increment) => !isPerSecond(increment)),
      deadlineMs,
      both,
    )
  }

  const router: CounterStore = {
    add(increments, deadlineMs, counted) {
      const only = toOnly(increments)
      if (only === undefined) callBoth('add', increments, deadlineMs, counted)
      else only.add(increments, deadlineMs, counted)
    },
    addSparing(increments, deadlineMs, counted) {
      const only = toOnly(increments)
      if (only === undefined) readThenAdd(router, increments, deadlineMs, counted)
      else only.addSparing(increments, deadlineMs, counted)
    },
    read(increments, deadlineMs, counted) {
      const only = toOnly(increments)
      if (only === undefined) callBoth('read', increments, deadlineMs, counted)
      else only.read(increments, deadlineMs, counted)
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([perSecond[Symbol.asyncDispose](), others[Symbol.asyncDispose]()])
    },
  }
  return router
}

function isPerSecond({ unitSeconds }: Increment): boolean {
  return unitSeconds === 1
}

/** Calls back after the second success, or immediately after the first failure. */
function awaitBoth(counted: Counted): Counted {
  let successes = 0
  let isOver = false
  return (error: StoreError | undefined) => {
    if (isOver || (error === undefined && ++successes < 2)) return
    isOver = true
    counted(error)
  }
}
