import type { MessageCap } from '../../config/limits.ts'
import type { Queries } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { findCapWait } from '../statements/message-caps.ts'

/** The cap as statements take it. */
export function toCapParts({ most, refillMs }: MessageCap) {
  return { cap_most: most, cap_refill_ms: refillMs ?? null }
}

/** The server as a whole may send no more. */
export async function toCapError(
  db: Queries,
  { most, refillMs }: MessageCap,
  now: Date,
): Promise<ApiError> {
  const [row] = await db.run(findCapWait, {
    channel: 'email',
    most,
    refillMs: refillMs ?? null,
    now,
  })
  return toOverCap(row?.wait_seconds)
}

/** @param seconds until one more may be sent. */
export function toOverCap(seconds: number | undefined): ApiError {
  return new ApiError('over_email_send_rate_limit', 'email rate limit exceeded', {
    retryAfterSeconds: Math.max(1, seconds ?? 3_600),
  })
}

/** Seconds until a user may be sent another message of a kind; 0: now, as always without a gap. */
export function secondsUntilDue(sentAt: string | null, gapMs: number, nowMs: number): number {
  if (sentAt === null || gapMs === 0) return 0
  return Math.max(0, Math.ceil((Date.parse(sentAt) + gapMs - nowMs) / 1_000))
}

export function toGapError(seconds: number): ApiError {
  return new ApiError(
    'over_email_send_rate_limit',
    `For security purposes, you can only request this after ${seconds} seconds.`,
    { retryAfterSeconds: seconds },
  )
}

/** The server as a whole may send no more text messages. */
export async function toSmsCapError(
  db: Queries,
  { most, refillMs }: MessageCap,
  now: Date,
): Promise<ApiError> {
  const [row] = await db.run(findCapWait, { channel: 'sms', most, refillMs: refillMs ?? null, now })
  return toSmsOverCap(row?.wait_seconds)
}

/** @param seconds until one more may be sent. */
export function toSmsOverCap(seconds: number | undefined): ApiError {
  return new ApiError('over_sms_send_rate_limit', 'SMS rate limit exceeded', {
    retryAfterSeconds: Math.max(1, seconds ?? 3_600),
  })
}

export function toSmsGapError(seconds: number): ApiError {
  return new ApiError(
    'over_sms_send_rate_limit',
    `For security purposes, you can only request this after ${seconds} seconds.`,
    { retryAfterSeconds: seconds },
  )
}
