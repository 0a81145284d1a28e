import type { Log } from '@portcullis/service-kit/log'
import { Breaker } from './breaker.ts'
import type { SharedOptions } from './options.ts'

/** The minimum interval between warnings: a store that fails every second call would fill the log. */
const logPauseMs = 60_000

/**
 * Creates a breaker from the options of a limiter. It logs outages.
 * @param consequence - the effect of an outage, for the log
 */
export function createBreaker(
  options: Pick<SharedOptions, 'breaker' | 'onOutage' | 'onRecovery'>,
  log: Log,
  consequence: string,
): Breaker {
  const { breaker = {}, onOutage, onRecovery } = options
  let loggedAtMs = Number.NEGATIVE_INFINITY
  let isLogged = false
  return new Breaker({
    settings:
      breaker === false
        ? undefined
        : { failures: breaker.failures ?? 5, pauseMs: breaker.pauseMs ?? 1_000 },
    elapsed: () => performance.now(),
    onOutage(error) {
      onOutage?.(error)
      if (performance.now() < loggedAtMs + logPauseMs) return
      loggedAtMs = performance.now()
      isLogged = true
      log.warning(`The rate limit store failed: ${error.message}; ${consequence}`)
    },
    onRecovery() {
      onRecovery?.()
      if (!isLogged) return
      isLogged = false
      log.warning('The rate limit store answers again')
    },
  })
}
