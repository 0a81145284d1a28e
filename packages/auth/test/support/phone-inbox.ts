import type { TestContext } from 'node:test'
import { until } from './outbox.ts'
import { openGatewayServer } from './sms-gateways.ts'

/** A received text message. */
export interface ShortMessage {
  readonly text: string
  readonly code: string
  readonly channel: string
}

export interface PhoneInbox {
  /** The environment that makes a server send its text messages here. */
  readonly env: Readonly<Record<string, string>>
  /** Waits for the oldest unread message to a phone number. */
  readNext(phone: string): Promise<ShortMessage>
}

/** Reads the messages that a gateway received, by phone number. */
export async function openPhoneInbox(t: TestContext): Promise<PhoneInbox> {
  const gateway = await openGatewayServer(t, { status: 204, body: '' })
  const readCounts = new Map<string, number>()
  return {
    env: {
      AUTH_EXTERNAL_PHONE_ENABLED: 'true',
      AUTH_SMS_PROVIDER: 'webhook',
      AUTH_SMS_WEBHOOK_URL: gateway.url,
      AUTH_SMS_MAX_FREQUENCY: '0',
      AUTH_RATE_LIMIT_SMS_SENT: '1000000',
    },
    async readNext(phone) {
      const digits = phone.replace('+', '')
      const at = readCounts.get(digits) ?? 0
      readCounts.set(digits, at + 1)
      const find = () =>
        gateway.calls
          .map(({ body }) => JSON.parse(body))
          .filter(({ to }) => to === `+${digits}`)
          .at(at)
      await until(() => find() !== undefined)
      const { message, channel } = find()
      const [, code = ''] = /^Your code is (\d{6})$/.exec(message) ?? []
      return { text: message, code, channel }
    },
  }
}
