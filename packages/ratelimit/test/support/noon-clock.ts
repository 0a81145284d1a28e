/** Ahead of the real clock, because the memory store drops counters that are expired by that clock. */
const dayMs = 86_400_000
const aheadMs = 2.5 * dayMs - (Date.now() % dayMs)

/** A clock that starts at noon, so that no hour or day ends during a test file. */
export const fromNoon = () => Date.now() + aheadMs
