import { ApiError, invalid } from '../../errors.ts'
import type { HooksConfig } from '../../plugins/hooks/settings.ts'
import type { TextChannel } from '../../plugins/sms/gateway.ts'
import type { SmsConfig } from '../../plugins/sms/settings.ts'

/** Why a code is sent, as errors and the outbox call it. */
export type TextKind = 'confirmation' | 'phone_change' | 'reauthentication'

/** What decides whether and how text messages are sent. */
export interface TextSettings {
  readonly config: {
    readonly sms: SmsConfig
    readonly hooks: Pick<HooksConfig, 'sendSms'>
  }
}

interface Known extends TextSettings {
  readonly now: () => number
}

/** What the channel for text messages reads of a row of the outbox. */
export function toTextPayload(code: string, channel: TextChannel) {
  return { Code: code, Channel: channel }
}

/** The field `channel` of a body (reference 1.6). @throws {ApiError} */
export function parseTextChannel(
  { config: { sms, hooks } }: TextSettings,
  text: string | undefined,
): TextChannel {
  // The hook decides which way its messages go.
  if (hooks.sendSms !== undefined) return 'sms'
  const known: readonly TextChannel[] = sms.gateway.isReady ? sms.gateway.channels : ['sms']
  const channel = known.find((each) => each === (text || 'sms'))
  if (channel !== undefined) return channel
  throw invalid(
    "Invalid channel, supported values are 'sms' or 'whatsapp'. 'whatsapp' is only supported if Twilio or Twilio Verify is used as the provider.",
  )
}

/** The code of a number that nothing is sent to (AUTH_SMS_TEST_OTP). */
export function findTestCode({ config, now }: Known, phone: string): string | undefined {
  const { byPhone, validUntilMs } = config.sms.testCodes
  return now() < validUntilMs ? byPhone.get(phone) : undefined
}

/**
 * What can be known before anything is sent: whether there is a gateway at all. Asked before anybody
 * is looked up, so that the answer tells nothing about who has an account. @throws {ApiError}
 */
export function requireGateway(services: Known, phone: string, kind: TextKind): void {
  const { gateway } = services.config.sms
  if (gateway.isReady || findTestCode(services, phone) !== undefined) return
  if (!gateway.isKnown) throw noGateway(gateway.problem)
  const message = `Error sending ${kind} OTP to provider: ${gateway.problem}`
  throw new ApiError('sms_send_failed', message)
}

/** The same for a phone factor, whose errors say less (reference 12.1). @throws {ApiError} */
export function requireFactorGateway(services: Known, phone: string): void {
  const { gateway } = services.config.sms
  if (gateway.isReady || findTestCode(services, phone) !== undefined) return
  if (!gateway.isKnown) throw noGateway(gateway.problem)
  const cause = new Error(gateway.problem)
  throw new ApiError('unexpected_failure', 'error sending message', { cause })
}

function noGateway(problem: string): ApiError {
  const cause = new Error(problem)
  return new ApiError('unexpected_failure', 'Unable to get SMS provider', { cause })
}
