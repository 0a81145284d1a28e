/** What memcached takes for seconds from now; anything above is a time since the epoch. */
const maxRelativeSeconds = 2_592_000

export interface ExpirySettings {
  readonly expirationJitterMaxSeconds: number
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/**
 * What is needed and a random part, so that the counters of a window do not all end in one moment. The
 * random part is at least 1, also without jitter: a memcached counts whole seconds of its own clock,
 * so a counter for one second could end after a tenth of it.
 */
export function createToExpiry({
  expirationJitterMaxSeconds,
  now,
}: ExpirySettings): (lifeSeconds: number) => number {
  const spread = Math.max(1, Math.trunc(expirationJitterMaxSeconds) - 1)
  return (lifeSeconds) => {
    const ttlSeconds = lifeSeconds + 1 + Math.floor(Math.random() * spread)
    return ttlSeconds > maxRelativeSeconds ? Math.floor(now() / 1000) + ttlSeconds : ttlSeconds
  }
}
