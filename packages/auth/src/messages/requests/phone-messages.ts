import type { Row } from '../../db/database.ts'
import type { ApiError } from '../../errors.ts'
import { type AuditAction, toAuditEntry } from '../../features/audit/audit.ts'
import type { Client } from '../../features/sessions/sessions.ts'
import type { UserRow } from '../../features/users/statements/user-row.ts'
import type { TextChannel } from '../../plugins/sms/gateway.ts'
import type { Services } from '../../services.ts'
import {
  askSmsCap,
  type DeferredKind,
  deferText,
  type PermitValues,
} from '../statements/message-gaps.ts'
import { messageRequests } from '../statements/request-message.ts'
import type { AccountClaim } from '../statements/request-parts.ts'
import {
  findRefusal,
  type GapClock,
  type GapParts,
  noGap,
  runGapped,
  toGapParts,
  toPermitValues,
  toSmsCapError,
} from './message-gaps.ts'
import { type CodeRequest, findTextGapMs, planCode } from './phone-codes.ts'
import { findTestCode } from './phone-gateway.ts'

/** A request of any client for a message to a phone number. */
export interface PhoneAsk {
  readonly phone: string
  readonly audience: string
  readonly client: Client
  readonly channel: TextChannel
  /** From requests/message-id.ts, if the response has one. */
  readonly messageId?: string | undefined
}

type TextClock = Extract<GapClock, 'sms' | 'phone_change'>

/** The purpose of a code that is sent to a user. */
export interface TextReason {
  readonly action: AuditAction
  /** Whether the cooldown was already checked by `deferCode`. */
  readonly hasWaited?: boolean
}

/**
 * Sends a user a code that confirms their phone number and signs them in. @throws {ApiError} during
 * the cooldown of the number, or if no message may be sent. `textNobody` returns the same errors
 * for a number without a user.
 */
export async function textUser(
  services: Services,
  ask: PhoneAsk,
  user: UserRow,
  { action, hasWaited = false }: TextReason,
  claim: AccountClaim,
): Promise<void> {
  const now = new Date(services.now())
  const { token, parts } = planCode(services, toConfirmation(ask))
  const gap = hasWaited ? noGap : toTextGap(services, ask, 'sms')
  const sent = await runGapped(services.db, messageRequests.confirmation_sent_at, {
    user_id: user.id,
    own_gap_seconds: null,
    invited_at: null,
    now,
    ip: ask.client.ip,
    audit: toAuditEntry(action, user, { channel: ask.channel }),
    ...parts,
    token: { ...token, claim },
    ...gap,
  })
  if (sent === undefined) return refuse(services, gap, now)
  services.wakeMessages()
}

/**
 * Stores a request whose response, including its timing, must not depend on whether the user
 * exists; features/deferred-messages.ts looks up the user later. @throws {ApiError} as `textUser`
 */
export async function deferCode(
  services: Services,
  ask: PhoneAsk,
  clock: TextClock,
  kind: DeferredKind,
): Promise<void> {
  const expiresInSeconds = services.config.sms.otpExpiresInSeconds
  const deferred = { kind, recipient: ask.phone, request: ask, expiresInSeconds }
  await permit(services, ask, clock, (values) =>
    runGapped(services.db, deferText, { ...values, ...deferred }),
  )
  services.wakeMessages()
}

/**
 * Does the same checks as `textUser` for a user who does not exist or needs no message. @throws
 * {ApiError}
 */
export async function textNobody(
  services: Services,
  ask: Pick<PhoneAsk, 'phone' | 'audience'>,
  clock: TextClock,
): Promise<void> {
  if (findTestCode(services, ask.phone) !== undefined) return
  await permit(services, ask, clock, (values) => runGapped(services.db, askSmsCap, values))
}

async function permit(
  services: Services,
  ask: Pick<PhoneAsk, 'phone' | 'audience'>,
  clock: TextClock,
  take: (values: PermitValues) => Promise<Row | undefined>,
): Promise<void> {
  const { smsSent } = services.config.limits
  const now = new Date(services.now())
  const gap = toTextGap(services, ask, clock)
  const room = await take(toPermitValues(smsSent, gap, now))
  if (room === undefined) await refuse(services, gap, now)
}

/** Reports why nothing was sent, unless the recipient no longer exists. @throws {ApiError} */
export async function refuse(
  { db, config }: Pick<Services, 'db' | 'config'>,
  gap: GapParts,
  now: Date,
): Promise<void> {
  const refusal = await findRefusal(db, 'sms', config.limits.smsSent, gap, now)
  if (refusal !== undefined) throw refusal.error
}

/** Returns why a user who was to be sent a message was not created. */
export async function toTextError(
  { db, config: { limits } }: Pick<Services, 'db' | 'config'>,
  gap: GapParts,
  now: Date,
): Promise<ApiError> {
  const refusal = await findRefusal(db, 'sms', limits.smsSent, gap, now)
  return refusal?.error ?? toSmsCapError(db, limits.smsSent, now)
}

/** The cooldown of a phone number, whether a user has it or not. */
export function toTextGap(
  services: Pick<Services, 'messageGaps' | 'config' | 'now'>,
  { phone, audience }: Pick<PhoneAsk, 'phone' | 'audience'>,
  clock: TextClock,
): GapParts {
  const gapMs = findTextGapMs(services, phone)
  return toGapParts(services.messageGaps, { clock, audience, name: phone, gapMs })
}

export function toConfirmation({ phone, channel, messageId }: PhoneAsk): CodeRequest {
  return { kind: 'confirmation', tokenType: 'phone_confirmation', phone, channel, messageId }
}
