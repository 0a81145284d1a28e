export interface BackoffSettings {
  readonly initialMs: number
  readonly maxMs: number
  /** How far a wait may be off by chance, as a part of it; 0: not at all. */
  readonly randomFactor: number
}

export interface Backoff {
  /** How long to wait after one more failure: each wait is twice as long (reference G20). */
  nextMs(): number
  /** The server is well: the next wait is the first one again. */
  reset(): void
}

/** A wait of nothing would keep a core busy with a server that refuses every stream. */
const shortestMs = 10
/** What a timer can wait; anything longer would fire at once. */
const longestMs = 2 ** 31 - 1

export function createBackoff(
  { initialMs, maxMs, randomFactor }: BackoffSettings,
  random: () => number,
): Backoff {
  let nextMs = initialMs
  return {
    nextMs() {
      const waitMs = nextMs
      nextMs = Math.min(maxMs, nextMs * 2)
      return spread(waitMs, randomFactor, random)
    },
    reset() {
      nextMs = initialMs
    },
  }
}

/** So that a fleet that lost its server does not come back in one moment. */
export function spread(waitMs: number, randomFactor: number, random: () => number): number {
  const factor = 1 + randomFactor * (2 * random() - 1)
  return Math.min(longestMs, Math.max(shortestMs, waitMs * factor))
}
