import { ApiError, invalid } from '../../errors.ts'
import type { HooksConfig } from '../../plugins/hooks/settings.ts'
import type { TextChannel } from '../../plugins/sms/gateway.ts'
import type { SmsConfig } from '../../plugins/sms/settings.ts'

/** The purpose of a code. Error messages and the outbox contain it. */
export type TextKind = 'confirmation' | 'phone_change' | 'reauthentication'

/** The settings that determine whether and how text messages are sent. */
export interface TextSettings {
  readonly config: {
    readonly sms: SmsConfig
    readonly hooks: Pick<HooksConfig, 'sendSms'>
  }
}

interface TextServices extends TextSettings {
  readonly now: () => number
}

/** The fields that the SMS channel reads from a row of the outbox. */
export function toTextPayload(code: string, channel: TextChannel, messageId?: string) {
  return { Code: code, Channel: channel, ...(messageId !== undefined && { MessageID: messageId }) }
}

/** Parses the field `channel` of a body. @throws {ApiError} */
export function parseTextChannel(
  { config: { sms, hooks } }: TextSettings,
  text: string | undefined,
): TextChannel {
  // The hook decides how its messages are sent.
  if (hooks.sendSms !== undefined) return 'sms'
  const channel = sms.gateway.channels.find((each) => each === (text || 'sms'))
  if (channel !== undefined) return channel
  throw invalid(
    "Invalid channel, supported values are 'sms' or 'whatsapp'. 'whatsapp' is only supported if Twilio or Twilio Verify is used as the provider.",
  )
}

/** The fixed code of a test number (AUTH_SMS_TEST_OTP). */
export function findTestCode({ config, now }: TextServices, phone: string): string | undefined {
  const { byPhone, validUntilMs } = config.sms.testCodes
  return now() < validUntilMs ? byPhone.get(phone) : undefined
}

/**
 * Checks that a gateway is configured. It is called before the user is looked up, so that the
 * response does not reveal who has an account. @throws {ApiError}
 */
export function requireGateway(services: TextServices, phone: string, kind: TextKind): void {
  const { gateway } = services.config.sms
  if (gateway.isReady || findTestCode(services, phone) !== undefined) return
  if (!gateway.isKnown) throw noGateway(gateway.problem)
  const message = `Error sending ${kind} OTP to provider: ${gateway.problem}`
  throw new ApiError('sms_send_failed', message)
}

/** The same check for a phone factor, with less specific errors. @throws {ApiError} */
export function requireFactorGateway(services: TextServices, phone: string): void {
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
