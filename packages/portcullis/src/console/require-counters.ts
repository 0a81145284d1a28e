import { ConsoleError } from './error-answers.ts'

/**
 * Our service tells its counters at `/stats`. The original tells there how much memory it has, and gives
 * its counters to statsd or Prometheus only: what is not told must not look like nothing.
 * @throws {ConsoleError}
 */
export function requireCounters(statistics: string): void {
  if (/^ratelimit\./m.test(statistics)) return
  const message =
    'This service does not tell its counters: envoyproxy/ratelimit gives them to statsd or Prometheus only.'
  throw new ConsoleError(502, 'no_counters', message)
}
