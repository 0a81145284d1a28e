import { setTimeout as sleep } from 'node:timers/promises'
import { toReason } from '@portcullis/service-kit/text/reason'
import type { RedisSettings, StartupSettings } from './settings.ts'

export interface StartupOptions extends StartupSettings {
  /** The name of the store in log lines. */
  readonly name: string
  readonly log: RedisSettings['log']
  readonly signal: AbortSignal
  /** Called after each failed attempt. */
  readonly onFailedAttempt?: ((error: unknown) => void) | undefined
  /** Whether the process may exit between two attempts. */
  readonly isBackground?: boolean | undefined
}

/**
 * Retries until an attempt succeeds. The service often starts together with Redis, and should wait for it
 * instead of crashing.
 * @throws the error of the last attempt, when the time is over or the signal is aborted
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
      // Between 50 % and 150 % of the interval, so that many instances do not retry at the same moment.
      const pauseMs = Math.round(intervalMs * (0.5 + Math.random()))
      const elapsedMs = performance.now() - startedAtMs
      const isOver = maxElapsedMs > 0 && elapsedMs + pauseMs > maxElapsedMs
      // The messages below name Redis already.
      const reason = toReason(error).replace(`Redis at ${name}: `, '')
      // The error of a stopped attempt says nothing about Redis.
      if (isOver && !signal.aborted) {
        const advice = 'Check its address and password, and that it is running'
        log.error(`Giving up on Redis (${name}): ${reason}. ${advice}`)
      }
      if (isOver || signal.aborted) throw error
      options.onFailedAttempt?.(error)
      log.warning(`Waiting for Redis (${name}), next attempt in ${pauseMs} ms: ${reason}`)
      await sleep(pauseMs, undefined, { signal, ref: options.isBackground !== true })
    }
  }
}
