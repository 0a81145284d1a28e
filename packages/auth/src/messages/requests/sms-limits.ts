import type { MessageCap } from '../../config/limits.ts'
import type { Queries } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { findCapWait } from '../statements/message-caps.ts'

/** The server as a whole may send no more text messages. */
export async function toSmsCapError(
  db: Queries,
  { most, refillMs }: MessageCap,
  now: Date,
): Promise<ApiError> {
  const values = ['sms', most, refillMs ?? null, now]
  const [row] = await db.run<{ wait_seconds: number }>(findCapWait, values)
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
