const doubtMs = 60_000
/** What a clock may gain between two looks without being doubted. */
const gainMs = 1000

/**
 * The wall clock in seconds, except that a leap ahead is believed only after a minute. A false time
 * that is soon corrected would otherwise end every window, and with them a day's counters.
 * A step back is believed at once: it ends nothing.
 * @param nowMs the wall clock
 * @param elapsedMs a clock that is never set
 */
export function createPatientClock(nowMs: () => number, elapsedMs: () => number): () => number {
  let difference = nowMs() - elapsedMs()
  let doubtedSince = Number.POSITIVE_INFINITY
  return () => {
    const elapsed = elapsedMs()
    const now = nowMs()
    if (now - elapsed - difference > gainMs) {
      doubtedSince = Math.min(doubtedSince, elapsed)
      if (elapsed - doubtedSince < doubtMs) return (elapsed + difference) / 1000
    }
    doubtedSince = Number.POSITIVE_INFINITY
    difference = now - elapsed
    return now / 1000
  }
}
