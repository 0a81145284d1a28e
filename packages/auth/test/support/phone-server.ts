import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { type FlowServer, openFlowServer } from './flow-server.ts'
import { type HttpAnswer, send } from './http-client.ts'

/**
 * Nothing listens at the gateway URL, so messages stay in the outbox, where tests can read them.
 */
export const phoneEnvironment = {
  AUTH_EXTERNAL_PHONE_ENABLED: 'true',
  AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
  AUTH_SMS_PROVIDER: 'webhook',
  AUTH_SMS_WEBHOOK_URL: 'http://127.0.0.1:1/',
  AUTH_RATE_LIMIT_SMS_SENT: '1000000',
} as const

export interface Text {
  readonly kind: string
  readonly code: string
  readonly channel: string
}

export interface PhoneServer extends FlowServer {
  /** The messages to a phone number, newest first. */
  textsTo(phone: string): Promise<readonly Text[]>
  /** The code in the newest message to a phone number. */
  codeTo(phone: string): Promise<string>
  /** Creates a user with a confirmed phone number and no password, and signs in. */
  newPerson(): Promise<{ readonly id: string; readonly phone: string; readonly token: string }>
  /** Sends a request with an access token. */
  call(token: string, path: string, body?: unknown, method?: string): Promise<HttpAnswer>
}

let last = 0

/** A phone number that no other test uses. */
export function newPhone(): string {
  return `1555${String(process.pid % 1_000).padStart(3, '0')}${String(++last).padStart(4, '0')}`
}

/** A code that differs from the given one. */
export function toWrongCode(code: string): string {
  return code.replace(/^./, (digit) => (digit === '1' ? '2' : '1'))
}

/** Opens a server with phone sign-in, without the limits that a test does not set. */
export async function openPhoneServer(
  t: TestContext,
  env: Readonly<Record<string, string>> = {},
): Promise<PhoneServer | undefined> {
  const server = await openFlowServer(t, { ...phoneEnvironment, ...env })
  if (!server) return undefined
  const { query, post, url } = server
  const textsTo = async (phone: string): Promise<readonly Text[]> => {
    await server.untilAnswered()
    const sql = "select * from outbox where recipient = $1 and channel = 'sms' order by id desc"
    const rows = await query(sql, [phone])
    return rows.map(({ kind, payload }) => ({ kind, code: payload.Code, channel: payload.Channel }))
  }
  const codeTo = async (phone: string) => {
    const [text] = await textsTo(phone)
    if (text === undefined) throw new Error(`No message to ${phone}`)
    return text.code
  }
  return {
    ...server,
    clock: server.clock,
    textsTo,
    codeTo,
    call: (token, path, body, method) =>
      send(url, path, { token, body, ...(method !== undefined && { method }) }),
    async newPerson() {
      const phone = newPhone()
      await post('/otp', { phone })
      const { status, body } = await post('/verify', {
        type: 'sms',
        phone,
        token: await codeTo(phone),
      })
      assert.equal(status, 200, JSON.stringify(body))
      await query('delete from message_gaps')
      await query('delete from outbox where recipient = $1', [phone])
      return { id: body.user.id, phone, token: body.access_token }
    },
  }
}
