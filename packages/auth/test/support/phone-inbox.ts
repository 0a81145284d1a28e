import type { TestContext } from 'node:test'
import { until } from './outbox.ts'
import { openGatewayServer } from './sms-gateways.ts'

/** A text message as a person reads it. */
export interface ShortMessage {
  readonly text: string
  readonly code: string
  readonly channel: string
}

export interface PhoneInbox {
  /** Makes a server send its text messages here. */
  readonly env: Readonly<Record<string, string>>
  /** The oldest message to a number that was not read yet. Waits for it. */
  readNext(phone: string): Promise<ShortMessage>
}

/** What a gateway received, to be read by numbers. */
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
