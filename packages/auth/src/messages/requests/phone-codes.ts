import type { TextChannel } from '../../plugins/sms/gateway.ts'
import type { Services } from '../../services.ts'
import type { OneTimeTokenType } from '../../tokens/one-time-tokens.ts'
import type { NewMessage, NewToken, RequestParts } from '../statements/request-parts.ts'
import { toCapParts } from './message-cooldowns.ts'
import { findTestCode, type TextKind, toTextPayload } from './phone-gateway.ts'

export interface CodeRequest {
  readonly kind: TextKind
  readonly tokenType: OneTimeTokenType
  /** The recipient; the code is not valid for another number. */
  readonly phone: string
  readonly channel: TextChannel
  /** From requests/message-id.ts. */
  readonly messageId?: string | undefined
}

/** A text message with its one-time token, not yet stored. */
export interface CodePlan {
  readonly token: NewToken
  /** Includes the token. */
  readonly parts: Pick<
    RequestParts,
    'token' | 'flow' | 'messages' | 'channel' | 'cap_most' | 'cap_refill_ms'
  >
  /** The minimum interval since the previous message. */
  readonly cooldownMs: number
}

type Planning = Pick<Services, 'config' | 'oneTimeTokens' | 'gatewayCodes' | 'now'>

/**
 * Creates a token and its message without storing or sending them. A test number has a fixed code
 * and no message.
 */
export function planCode(services: Planning, request: CodeRequest): CodePlan {
  const { config, oneTimeTokens, now } = services
  const { kind, tokenType, phone, channel, messageId } = request
  const { sms, limits } = config
  const created = oneTimeTokens.create(sms.otpLength, false)
  const testCode = findTestCode(services, phone)
  const digits = testCode ?? created.digits
  const gatewayCodes = testCode === undefined ? services.gatewayCodes : undefined
  const stored = oneTimeTokens.store({ ...created, digits }, phone)
  const otpHash = gatewayCodes ? oneTimeTokens.hashApproval(phone) : stored.otpHash
  const lifetimeSeconds = gatewayCodes?.lifetimeSeconds ?? sms.otpExpiresInSeconds
  const message: NewMessage = {
    kind,
    recipient: phone,
    payload: toTextPayload(digits, channel, messageId),
    expires_in_seconds: lifetimeSeconds,
  }
  const token: NewToken = {
    token_type: tokenType,
    token_hash: stored.tokenHash.toString('hex'),
    otp_hash: otpHash.toString('hex'),
    relates_to: phone,
    is_pkce: false,
    expires_at: new Date(now() + lifetimeSeconds * 1_000),
  }
  return {
    token,
    parts: {
      token,
      flow: null,
      messages: testCode === undefined ? [message] : [],
      channel: 'sms',
      ...toCapParts(limits.smsSent),
    },
    cooldownMs: findTextCooldownMs(services, phone),
  }
}

/** Test numbers have no cooldown, because nothing is sent to them. */
export function findTextCooldownMs(
  services: Pick<Services, 'config' | 'now'>,
  phone: string,
): number {
  const isTest = findTestCode(services, phone) !== undefined
  return isTest ? 0 : services.config.sms.maxFrequencyMs
}

/**
 * The possible hashes of a code that a user received by text message. If the code is right, the
 * table contains one of them. @throws {ApiError} if the gateway checks codes and is unavailable.
 */
export async function findTextHashes(
  services: Pick<Services, 'config' | 'oneTimeTokens' | 'gatewayCodes' | 'now'>,
  digits: string,
  phone: string,
): Promise<readonly string[]> {
  const { oneTimeTokens, gatewayCodes } = services
  const isGatewayCode = gatewayCodes !== undefined && findTestCode(services, phone) === undefined
  const isApproved = isGatewayCode && (await gatewayCodes.isRight(phone, digits))
  return isApproved
    ? oneTimeTokens.findApprovalHashes(phone)
    : oneTimeTokens.findHashes(digits, phone)
}
