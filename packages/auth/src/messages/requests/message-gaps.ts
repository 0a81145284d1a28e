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
 * The cooldowns of an address. Each kind of message has its own; otherwise, requesting magic links
 * for an address would prevent its owner from recovering the account.
 */
export type GapClock =
  | 'confirmation'
  | 'recovery'
  | 'magic_link'
  | 'email_change'
  | 'sms'
  | 'phone_change'

/** A request for a message that any client may make, whether the recipient exists or not. */
export interface GapAsk {
  readonly clock: GapClock
  readonly audience: string
  /** The email address or phone number. */
  readonly name: string
  /** The minimum interval since the previous message. */
  readonly gapMs: number
}

/** Creates keys for cooldowns, from which the address cannot be derived. */
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

/** For a message whose cooldown was already checked. */
export const noGap: GapParts = { gap_key: null, gap_seconds: 0 }

/** Converts the cooldown to statement parameters. Without a cooldown, nothing is stored. */
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

/** Returns the first row; undefined as well if a concurrent request for the address was faster. */
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
 * Returns why a message was not allowed: the cooldown of the address, or the limit of the whole
 * server. Undefined if neither applies, because then the recipient no longer exists.
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

/** Converts the cap to statement parameters. */
export function toCapParts({ most, refillMs }: MessageCap) {
  return { cap_most: most, cap_refill_ms: refillMs ?? null }
}

/** The error if the limit of emails of the whole server is reached. */
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

/** @param seconds until another message may be sent. */
function toOverCap(seconds: number | undefined): ApiError {
  return new ApiError('over_email_send_rate_limit', 'email rate limit exceeded', {
    retryAfterSeconds: Math.max(1, seconds ?? 3_600),
  })
}

/** Seconds until a user may be sent another message of a kind; 0 if one may be sent now. */
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

/** The error if the limit of text messages of the whole server is reached. */
export async function toSmsCapError(
  db: Queries,
  { most, refillMs }: MessageCap,
  now: Date,
): Promise<ApiError> {
  const [row] = await db.run(findCapWait, { channel: 'sms', most, refillMs: refillMs ?? null, now })
  return toSmsOverCap(row?.wait_seconds)
}

/** @param seconds until another message may be sent. */
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
