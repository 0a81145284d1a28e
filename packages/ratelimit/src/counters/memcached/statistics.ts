export interface StatisticsCounter {
  value: number
}

/** The outcomes of one kind of command. */
export interface WriteStatistics {
  readonly success: StatisticsCounter
  readonly error: StatisticsCounter
  /** `miss`: no counter to increment. `not_stored`: there was one already. */
  readonly refused: StatisticsCounter
}

export interface MemcachedStatistics {
  /** Counted per call, not per node: an error if at least one node could not be read. */
  readonly multiget: Omit<WriteStatistics, 'refused'>
  /** Includes refunds. */
  readonly increment: WriteStatistics
  readonly add: WriteStatistics
  readonly keysRequested: StatisticsCounter
  readonly keysFound: StatisticsCounter
}

/** @param counter - returns the counter of a name; the names are those of envoyproxy/ratelimit */
export function createMemcachedStatistics(
  counter: (name: string) => StatisticsCounter = () => ({ value: 0 }),
): MemcachedStatistics {
  const coded = (name: string) => counter(`ratelimit.memcache.${name}`)
  const outcomes = (name: string) => ({
    success: coded(`${name}.__code=success`),
    error: coded(`${name}.__code=error`),
  })
  return {
    multiget: outcomes('multiget'),
    increment: { ...outcomes('increment'), refused: coded('increment.__code=miss') },
    add: { ...outcomes('add'), refused: coded('add.__code=not_stored') },
    keysRequested: coded('keys_requested'),
    keysFound: coded('keys_found'),
  }
}
