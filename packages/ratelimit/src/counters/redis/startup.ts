import { setTimeout as sleep } from 'node:timers/promises'
import type { RedisSettings, StartupSettings } from './settings.ts'

export interface StartupOptions extends StartupSettings {
  /** How the log calls what is being waited for. */
  readonly name: string
  readonly log: RedisSettings['log']
  readonly signal: AbortSignal
  /** Called after each attempt that failed. */
  readonly onFailedAttempt?: ((error: unknown) => void) | undefined
  /** Whether the process may end between two attempts. */
  readonly isBackground?: boolean | undefined
}

/**
 * Tries until it works. Starting together with Redis is common, and a service that crashes until
 * Redis is up helps nobody (6.2).
 * @throws what the last attempt threw, when the time is over or the signal came.
 */
export async function tryUntilReady(
  attempt: () => Promise<void>,
  options: StartupOptions,
): Promise<void> {
  const { name, initialIntervalMs, maxIntervalMs, maxElapsedMs, log, signal } = options
  const startedAtMs = performance.now()
  for (let intervalMs = initialIntervalMs; ; intervalMs = Math.min(maxIntervalMs, intervalMs * 2)) {
    try {
      await attempt()
      return
    } catch (error) {
      // Half to one and a half of the interval, so that a fleet does not knock in step.
      const pauseMs = Math.round(intervalMs * (0.5 + Math.random()))
      const elapsedMs = performance.now() - startedAtMs
      const isOver = maxElapsedMs > 0 && elapsedMs + pauseMs > maxElapsedMs
      const reason = error instanceof Error ? error.message : String(error)
      if (isOver) log.error(`Giving up on Redis (${name}): ${reason}`)
      if (isOver || signal.aborted) throw error
      options.onFailedAttempt?.(error)
      log.warning(`Waiting for Redis (${name}), next attempt in ${pauseMs} ms: ${reason}`)
      await sleep(pauseMs, undefined, { signal, ref: options.isBackground !== true })
    }
  }
}
