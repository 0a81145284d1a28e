/** Ahead of the real clock, as the memory store drops what is long over by that one. */
const dayMs = 86_400_000
const aheadMs = 2.5 * dayMs - (Date.now() % dayMs)

/** A clock that starts at noon, so that no run of a test file meets the end of an hour or a day. */
export const fromNoon = () => Date.now() + aheadMs
