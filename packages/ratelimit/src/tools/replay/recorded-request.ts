import type { RateLimitRequest } from '../../engine.ts'

/** A request of a log, with the time at which it was made. */
export interface RecordedRequest extends RateLimitRequest {
  readonly timeMs: number
}

/**
 * What one line of a log says. A text is the reason why it cannot be read; undefined means that it
 * was read and that nobody would have asked for a decision. Never throws: a log of another format
 * would cost a stack trace for each of its lines.
 */
export type ReadLine = (line: string) => RecordedRequest | string | undefined
