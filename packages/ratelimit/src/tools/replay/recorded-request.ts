import type { RateLimitRequest } from '../../engine.ts'

/** A request of a log, with the time at which it was made. */
export interface RecordedRequest extends RateLimitRequest {
  /** Milliseconds since the epoch. */
  readonly timeMs: number
}

/**
 * Parses one line of a log. A string is the reason why it cannot be read; undefined means that Envoy would
 * have sent no request for it. Never throws: with a log of another format, every line would cost a stack
 * trace.
 */
export type ReadLine = (line: string) => RecordedRequest | string | undefined
