import { createHmac } from 'node:crypto'
import type { MessageCap } from '../../config/limits.ts'
import type { Queries, Row } from '../../db/database.ts'
import { isTaken } from '../../db/database-errors.ts'
import type { Statement } from '../../db/statement.ts'
import { ApiError } from '../../errors.ts'
import type { KeyRing } from '../../tokens/key-ring.ts'
import { findCapWait } from '../statements/message-caps.ts'
import { findMessageWait, type PermitValues } from '../statements/message-gaps.ts'
import type { RequestParts } from '../statements/request-parts.ts'

/**
 * What runs for each address by itself. Each kind of message has its own: otherwise anybody who asks
 * for a magic link for an address would keep its owner from recovering the account.
 */
export type GapClock =
  | 'confirmation'
  | 'recovery'
  | 'magic_link'
  | 'email_change'
  | 'sms'
  | 'phone_change'

/** A message that anybody may ask for, whether there is somebody to send it to or not. */
export interface GapAsk {
  readonly clock: GapClock
  readonly audience: string
  /** The address or number. */
  readonly name: string
  /** How long after the one before. */
  readonly gapMs: number
}

/** Tells one clock of an address from all others, and nobody which it is. */
export interface MessageGaps {
  toKey(ask: Pick<GapAsk, 'audience' | 'name'> & { readonly clock: GapClock | 'code' }): string
}

/** @param keys shared by all processes of a database. */
export function createMessageGaps(keys: KeyRing): MessageGaps {
  return {
    toKey: ({ clock, audience, name }) =>
      createHmac('sha256', keys.current())
        .update(JSON.stringify([clock, audience, name]))
        .digest('hex'),
  }
}

export type GapParts = Required<Pick<RequestParts, 'gap_key' | 'gap_seconds'>>

/** Of a message for which somebody has waited already. */
export const noGap: GapParts = { gap_key: null, gap_seconds: 0 }

/** As statements take it. Without a gap there is nothing to remember. */
export function toGapParts(messageGaps: MessageGaps, ask: GapAsk): GapParts {
  return {
    gap_key: ask.gapMs > 0 ? messageGaps.toKey(ask) : null,
    gap_seconds: ask.gapMs / 1_000,
  }
}

export function toPermitValues(
  { most, refillMs }: MessageCap,
  gap: GapParts,
  now: Date,
): PermitValues {
  return { most, refillMs: refillMs ?? null, now, ...gap }
}

/** The first row. Undefined also where another request for the same address was faster. */
export async function runGapped<V extends object, R extends Row>(
  db: Queries,
  statement: Statement<V, R>,
  values: NoInfer<V>,
): Promise<R | undefined> {
  try {
    return (await db.run(statement, values))[0]
  } catch (error) {
    if (isTaken(error, 'message_gaps_pkey')) return undefined
    throw error
  }
}

const errors = {
  email: { toGapError, toOverCap },
  sms: { toGapError: toSmsGapError, toOverCap: toSmsOverCap },
} as const

export interface Refusal {
  readonly why: 'gap' | 'cap'
  readonly error: ApiError
}

/**
 * Why a message was not permitted: this address was sent one just now, or the server as a whole may
 * send no more. Undefined: neither; whom it was for is gone. One statement.
 */
export async function findRefusal(
  db: Queries,
  channel: keyof typeof errors,
  cap: MessageCap,
  gap: GapParts,
  now: Date,
): Promise<Refusal | undefined> {
  const [wait] = await db.run(findMessageWait, { channel, ...toPermitValues(cap, gap, now) })
  const seconds = wait?.gap_seconds ?? null
  if (seconds !== null) return { why: 'gap', error: errors[channel].toGapError(seconds) }
  if (wait?.has_room === true) return undefined
  return { why: 'cap', error: errors[channel].toOverCap(wait?.cap_seconds ?? undefined) }
}

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
function toOverCap(seconds: number | undefined): ApiError {
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
function toSmsOverCap(seconds: number | undefined): ApiError {
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
