import type { OneTimeTokenType } from '../../features/one-time-codes/one-time-tokens.ts'
import type { TextChannel } from '../../plugins/sms/gateway.ts'
import type { Services } from '../../services.ts'
import type { NewMessage, NewToken, RequestParts } from '../statements/request-parts.ts'
import { toCapParts } from './message-gaps.ts'
import { findTestCode, type TextKind, toTextPayload } from './phone-gateway.ts'

export interface CodeRequest {
  readonly kind: TextKind
  readonly tokenType: OneTimeTokenType
  /** Where it goes; it is no good for another number. */
  readonly phone: string
  readonly channel: TextChannel
}

/** A text message with its one-time token, still to be written. */
export interface CodePlan {
  readonly token: NewToken
  /** With the token. */
  readonly parts: Pick<
    RequestParts,
    'token' | 'flow' | 'messages' | 'channel' | 'cap_most' | 'cap_refill_ms'
  >
  /** How long after the one before. */
  readonly gapMs: number
}

type Planning = Pick<Services, 'config' | 'oneTimeTokens' | 'now'>

/** Makes a token and its message; writes and sends nothing. A test number has its code and no message. */
export function planCode(services: Planning, request: CodeRequest): CodePlan {
  const { config, oneTimeTokens, now } = services
  const { kind, tokenType, phone, channel } = request
  const { sms, limits } = config
  const created = oneTimeTokens.create(sms.otpLength, false)
  const testCode = findTestCode(services, phone)
  const digits = testCode ?? created.digits
  const { tokenHash, otpHash } = oneTimeTokens.store({ ...created, digits }, phone)
  const message: NewMessage = {
    kind,
    recipient: phone,
    payload: toTextPayload(digits, channel),
    expires_in_seconds: sms.otpExpiresInSeconds,
  }
  const token: NewToken = {
    token_type: tokenType,
    token_hash: tokenHash.toString('hex'),
    otp_hash: otpHash.toString('hex'),
    relates_to: phone,
    is_pkce: false,
    expires_at: new Date(now() + sms.otpExpiresInSeconds * 1_000),
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
    gapMs: findTextGapMs(services, phone),
  }
}

/** Who is sent nothing need not wait. */
export function findTextGapMs(services: Pick<Services, 'config' | 'now'>, phone: string): number {
  const isTest = findTestCode(services, phone) !== undefined
  return isTest ? 0 : services.config.sms.maxFrequencyMs
}
