/** The clock of a server under test; it stands still unless the test moves it. */
export interface FrozenClock {
  /** How far the test has moved the clock ahead, in milliseconds. */
  aheadMs: number
  /** Milliseconds since the epoch. */
  now(): number
  /** Sets the clock to the real time, which clients in a browser use. */
  catchUp(): void
}

/**
 * Each reading is a millisecond later than the one before, so that rows keep their order. On a busy
 * machine seconds pass between two requests: a real clock would end cooldowns, refill limits and cross
 * the boundary of a second in the middle of a test.
 */
export function createFrozenClock(): FrozenClock {
  let atMs = Date.now()
  return {
    aheadMs: 0,
    now() {
      atMs += 1
      return atMs + this.aheadMs
    },
    catchUp() {
      atMs = Date.now()
    },
  }
}
