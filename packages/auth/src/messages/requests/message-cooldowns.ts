import { createHmac } from 'node:crypto'
import type { LimitsConfig, MessageCap } from '../../config/limits/limits.ts'
import type { Queries, Row } from '../../db/database.ts'
import { isTaken } from '../../db/database-errors.ts'
import type { Statement } from '../../db/statement.ts'
import { ApiError } from '../../errors.ts'
import type { KeyRing } from '../../tokens/key-ring.ts'
import { findCapWait } from '../statements/message-caps.ts'
import { findMessageWait, type PermitValues } from '../statements/message-cooldowns.ts'
import type { RequestParts } from '../statements/request-parts.ts'

/**
 * Each kind of message to a recipient has its own cooldown. Otherwise, requesting magic links for an
 * address would prevent its owner from recovering the account.
 */
export type CooldownKind =
  | 'confirmation'
  | 'recovery'
  | 'magic_link'
  | 'email_change'
  | 'sms'
  | 'phone_change'

/** The minimum interval between two messages of a kind to a recipient, whether a user or not. */
export interface MessageCooldown {
  readonly kind: CooldownKind
  readonly audience: string
  /** The email address or phone number. */
  readonly name: string
  readonly cooldownMs: number
}

/** What is stored about a recipient; `code` is the count of wrong one-time codes. */
interface RecipientRecord extends Pick<MessageCooldown, 'audience' | 'name'> {
  readonly kind: CooldownKind | 'code'
}

/** Creates keys from which the recipient cannot be derived. */
export interface CooldownKeys {
  toKey(record: RecipientRecord): string
}

/** @param keys shared by all processes of a database. */
export function createCooldownKeys(keys: KeyRing): CooldownKeys {
  return {
    toKey: ({ kind, audience, name }) =>
      createHmac('sha256', keys.current())
        .update(JSON.stringify([kind, audience, name]))
        .digest('hex'),
  }
}

export type CooldownParts = Required<Pick<RequestParts, 'gap_key' | 'gap_seconds'>>

/** Statement parameters for a message whose cooldown was already checked. */
export const noCooldown: CooldownParts = { gap_key: null, gap_seconds: 0 }

/** Converts a cooldown to statement parameters. If it is 0, nothing is stored. */
export function toCooldownParts(keys: CooldownKeys, cooldown: MessageCooldown): CooldownParts {
  return {
    gap_key: cooldown.cooldownMs > 0 ? keys.toKey(cooldown) : null,
    gap_seconds: cooldown.cooldownMs / 1_000,
  }
}

function toPermitValues(
  { most, refillMs }: MessageCap,
  cooldownParts: CooldownParts,
  now: Date,
): PermitValues {
  return { most, refillMs: refillMs ?? null, now, ...cooldownParts }
}

/** Returns the first row; undefined as well if a concurrent request for the address was faster. */
export async function runWithCooldown<V extends object, R extends Row>(
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

/** Each channel has its own limit of messages of the whole server, and its own error. */
const channels = {
  email: { cap: 'emailSent', code: 'over_email_send_rate_limit', label: 'email' },
  sms: { cap: 'smsSent', code: 'over_sms_send_rate_limit', label: 'SMS' },
} as const

export type MessageChannel = keyof typeof channels

/** The database and the limits of the services. */
export interface LimitedSending {
  readonly db: Queries
  readonly config: { readonly limits: Pick<LimitsConfig, 'emailSent' | 'smsSent'> }
}

/**
 * Requests the permission for a message with a statement.
 * @returns why there is none; undefined if the statement returned a row, or the recipient no longer exists.
 */
export async function takePermit(
  sending: LimitedSending & { readonly now: () => number },
  channel: MessageChannel,
  cooldownParts: CooldownParts,
  take: (values: PermitValues) => Promise<Row | undefined>,
): Promise<Refusal | undefined> {
  const now = new Date(sending.now())
  const permit = await take(toPermitValues(toCap(sending, channel), cooldownParts, now))
  return permit === undefined ? findRefusal(sending, channel, cooldownParts, now) : undefined
}

function toCap({ config }: LimitedSending, channel: MessageChannel): MessageCap {
  return config.limits[channels[channel].cap]
}

export interface Refusal {
  readonly why: 'cooldown' | 'cap'
  readonly error: ApiError
}

/**
 * Returns why a message was not allowed: the cooldown of the address, or the limit of the whole
 * server. Undefined if neither applies, because then the recipient no longer exists.
 */
export async function findRefusal(
  sending: LimitedSending,
  channel: MessageChannel,
  cooldownParts: CooldownParts,
  now: Date,
): Promise<Refusal | undefined> {
  const [wait] = await sending.db.run(findMessageWait, {
    channel,
    ...toPermitValues(toCap(sending, channel), cooldownParts, now),
  })
  const seconds = wait?.gap_seconds ?? null
  if (seconds !== null) return { why: 'cooldown', error: toCooldownError(channel, seconds) }
  if (wait?.has_room === true) return undefined
  return { why: 'cap', error: toOverCapError(channel, wait?.cap_seconds ?? undefined) }
}

/** Returns why a new user was not created: the message to them was not allowed. */
export async function toRefusalError(
  sending: LimitedSending,
  channel: MessageChannel,
  cooldownParts: CooldownParts,
  now: Date,
): Promise<ApiError> {
  const refusal = await findRefusal(sending, channel, cooldownParts, now)
  return refusal?.error ?? toCapError(sending, channel, now)
}

/** @throws {ApiError} */
export function throwRefusal(refusal: Refusal | undefined): void {
  if (refusal !== undefined) throw refusal.error
}

/** Converts the cap to statement parameters. */
export function toCapParts({ most, refillMs }: MessageCap) {
  return { cap_most: most, cap_refill_ms: refillMs ?? null }
}

/** The error if the limit of messages of the whole server is reached. */
export async function toCapError(
  sending: LimitedSending,
  channel: MessageChannel,
  now: Date,
): Promise<ApiError> {
  const { most, refillMs } = toCap(sending, channel)
  const [row] = await sending.db.run(findCapWait, {
    channel,
    most,
    refillMs: refillMs ?? null,
    now,
  })
  return toOverCapError(channel, row?.wait_seconds)
}

/** @param seconds until another message may be sent. */
function toOverCapError(channel: MessageChannel, seconds: number | undefined): ApiError {
  const { code, label } = channels[channel]
  return new ApiError(code, `${label} rate limit exceeded`, {
    retryAfterSeconds: Math.max(1, seconds ?? 3_600),
  })
}

/** Seconds until a user may be sent another message of a kind; 0 if one may be sent now. */
export function secondsUntilDue(sentAt: string | null, cooldownMs: number, nowMs: number): number {
  if (sentAt === null || cooldownMs === 0) return 0
  return Math.max(0, Math.ceil((Date.parse(sentAt) + cooldownMs - nowMs) / 1_000))
}

export function toCooldownError(channel: MessageChannel, seconds: number): ApiError {
  return new ApiError(
    channels[channel].code,
    `For security purposes, you can only request this after ${seconds} seconds.`,
    { retryAfterSeconds: seconds },
  )
}
