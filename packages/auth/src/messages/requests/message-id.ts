import { randomUUID } from 'node:crypto'
import { findTestCode, type TextSettings } from './phone-gateway.ts'

/**
 * The `message_id` with which a response to a client of Supabase Auth names a text message. There it
 * is the gateway's ID; here messages are sent after the response, so it is an ID of this server,
 * which the log of a failed message contains. It is the same kind of value whether the number has an
 * account or not. Undefined if no gateway is used.
 */
export function createMessageId(
  services: TextSettings & { readonly now: () => number },
  phone: string,
): string | undefined {
  const { sms, hooks } = services.config
  if (findTestCode(services, phone) !== undefined) return 'test-otp'
  if (!sms.gateway.isReady || hooks.sendSms !== undefined) return undefined
  return randomUUID()
}

/** The body of a response. */
export function toMessageBody(messageId: string | undefined): { readonly message_id?: string } {
  return messageId === undefined ? {} : { message_id: messageId }
}
