import type { Counted, CounterStore, Increment } from './counter-store.ts'

/**
 * `store.add` for many counters: so many at a time, each after the answer to those before. So one
 * request never has more than its share of a connection that all requests use. Where one slice fails, the
 * others after it are not counted.
 */
export function addInSlices(
  store: Pick<CounterStore, 'add'>,
  increments: readonly Increment[],
  length: number,
  deadlineMs: number,
  counted: Counted,
): void {
  const addFrom = (start: number): void => {
    const slice = increments.slice(start, start + length)
    store.add(slice, deadlineMs, (error) => {
      const next = start + length
      if (error !== undefined || next >= increments.length) counted(error)
      else setImmediate(addFrom, next)
    })
  }
  addFrom(0)
}
