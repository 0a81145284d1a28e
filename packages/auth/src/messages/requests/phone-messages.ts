import { type AuditAction, toAuditEntry } from '../../features/audit/audit.ts'
import type { Client } from '../../features/sessions/sessions.ts'
import type { UserRow } from '../../features/users/statements/user-row.ts'
import type { TextChannel } from '../../plugins/sms/gateway.ts'
import type { Services } from '../../services.ts'
import { type DeferredKind, deferText, takeSmsPermit } from '../statements/message-cooldowns.ts'
import { messageRequests } from '../statements/request-message.ts'
import type { AccountClaim } from '../statements/request-parts.ts'
import {
  type CooldownKind,
  type CooldownParts,
  findRefusal,
  noCooldown,
  type Refusal,
  runWithCooldown,
  takePermit,
  throwRefusal,
  toCooldownParts,
} from './message-cooldowns.ts'
import { type CodeRequest, findTextCooldownMs, planCode } from './phone-codes.ts'
import { findTestCode } from './phone-gateway.ts'

/** A client's request for a message to a phone number; clients need not be authenticated. */
export interface ClientTextRequest {
  readonly phone: string
  readonly audience: string
  readonly client: Client
  readonly channel: TextChannel
  /** From requests/message-id.ts, if the response has one. */
  readonly messageId?: string | undefined
}

type TextCooldownKind = Extract<CooldownKind, 'sms' | 'phone_change'>

/** The purpose of a code that is sent to a user. */
export interface TextReason {
  readonly action: AuditAction
  /** Whether the cooldown was already checked by `deferCode`. */
  readonly isCooldownChecked?: boolean
}

/**
 * Sends a user a code that confirms their phone number and signs them in. @throws {ApiError} during
 * the cooldown of the number, or if no message may be sent. `simulateText` returns the same errors
 * for a number without a user.
 */
export async function textUser(
  services: Services,
  request: ClientTextRequest,
  user: UserRow,
  { action, isCooldownChecked = false }: TextReason,
  claim: AccountClaim,
): Promise<void> {
  const now = new Date(services.now())
  const { token, parts } = planCode(services, toConfirmation(request))
  const cooldownParts = isCooldownChecked ? noCooldown : toTextCooldown(services, request, 'sms')
  const sent = await runWithCooldown(services.db, messageRequests.confirmation_sent_at, {
    user_id: user.id,
    own_gap_seconds: null,
    invited_at: null,
    now,
    ip: request.client.ip,
    audit: toAuditEntry(action, user, { channel: request.channel }),
    ...parts,
    token: { ...token, claim },
    ...cooldownParts,
  })
  if (sent === undefined) return refuse(services, cooldownParts, now)
  services.wakeMessages()
}

/**
 * Stores a request whose response, including its timing, must not depend on whether the user
 * exists; features/deferred-messages.ts looks up the user later. @throws {ApiError} as `textUser`
 */
export async function deferCode(
  services: Services,
  request: ClientTextRequest,
  cooldownKind: TextCooldownKind,
  kind: DeferredKind,
): Promise<void> {
  throwRefusal(await tryToDeferCode(services, request, cooldownKind, kind))
}

/** Like `deferCode`. @returns why the request was not stored; undefined if it was stored. */
export async function tryToDeferCode(
  services: Services,
  request: ClientTextRequest,
  cooldownKind: TextCooldownKind,
  kind: DeferredKind,
): Promise<Refusal | undefined> {
  const expiresInSeconds = services.config.sms.otpExpiresInSeconds
  const deferred = { kind, recipient: request.phone, request, expiresInSeconds }
  const cooldown = toTextCooldown(services, request, cooldownKind)
  const refusal = await takePermit(services, 'sms', cooldown, (values) =>
    runWithCooldown(services.db, deferText, { ...values, ...deferred }),
  )
  if (refusal === undefined) services.wakeMessages()
  return refusal
}

/**
 * Does the same checks and starts the same cooldown as `textUser`, but sends nothing: the user does
 * not exist or needs no message. @throws {ApiError}
 */
export async function simulateText(
  services: Services,
  request: Pick<ClientTextRequest, 'phone' | 'audience'>,
  cooldownKind: TextCooldownKind,
): Promise<void> {
  if (findTestCode(services, request.phone) !== undefined) return
  const cooldown = toTextCooldown(services, request, cooldownKind)
  const refusal = await takePermit(services, 'sms', cooldown, (values) =>
    runWithCooldown(services.db, takeSmsPermit, values),
  )
  throwRefusal(refusal)
}

/** Reports why nothing was sent, unless the recipient no longer exists. @throws {ApiError} */
export async function refuse(
  services: Pick<Services, 'db' | 'config'>,
  cooldownParts: CooldownParts,
  now: Date,
): Promise<void> {
  throwRefusal(await findRefusal(services, 'sms', cooldownParts, now))
}

/** The cooldown of a phone number, whether a user has it or not. */
export function toTextCooldown(
  services: Pick<Services, 'cooldownKeys' | 'config' | 'now'>,
  { phone, audience }: Pick<ClientTextRequest, 'phone' | 'audience'>,
  cooldownKind: TextCooldownKind,
): CooldownParts {
  const cooldownMs = findTextCooldownMs(services, phone)
  return toCooldownParts(services.cooldownKeys, {
    kind: cooldownKind,
    audience,
    name: phone,
    cooldownMs,
  })
}

export function toConfirmation({ phone, channel, messageId }: ClientTextRequest): CodeRequest {
  return { kind: 'confirmation', tokenType: 'phone_confirmation', phone, channel, messageId }
}
