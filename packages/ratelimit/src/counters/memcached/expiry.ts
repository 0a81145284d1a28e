/** Up to this number, memcached counts seconds from now; a greater number is a Unix time. */
const maxRelativeSeconds = 2_592_000

export interface ExpirySettings {
  readonly expirationJitterMaxSeconds: number
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/**
 * The required lifetime plus a random part, so that the counters of a window do not all expire at the same
 * moment. The random part is at least 1, even without jitter: memcached counts whole seconds of its own
 * clock, so a counter for one second could expire after a tenth of it.
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
