/**
 * Time passes where the test says so, and a millisecond with each look at the clock: a busy machine
 * must not run out of an interval.
 */
export function freezeClock(clock: { aheadMs: number }): void {
  let atMs = Date.now() + clock.aheadMs
  Object.defineProperty(clock, 'aheadMs', {
    get() {
      atMs += 1
      return atMs - Date.now()
    },
    set(aheadMs: number) {
      atMs = Date.now() + aheadMs
    },
  })
}
