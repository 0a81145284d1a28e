import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'

export interface TwilioVerify {
  readonly url: string
  /** The environment of a server that uses it. */
  readonly env: Readonly<Record<string, string>>
  /** The code of the pending verification of a phone number. */
  codeTo(phone: string): Promise<string>
  /** The channels of the messages to a phone number. */
  channelsTo(phone: string): readonly string[]
  /** The number of codes that were checked. */
  readonly checks: number
  /** Responds 503 to everything. */
  isDown: boolean
}

interface Verification {
  readonly code: string
  readonly channels: string[]
  wrong: number
}

const account = 'AC00000000000000000000000000000001'
const token = 'twilio-token'
const service = 'VA00000000000000000000000000000003'
/** Twilio refuses further codes after this many wrong ones. */
const maxWrong = 5

/**
 * Behaves like the documented API of Twilio Verify: it creates the codes, accepts each once, and
 * refuses requests with other fields.
 */
export async function openTwilioVerify(t: TestContext): Promise<TwilioVerify> {
  const pending = new Map<string, Verification>()
  const sent = new Map<string, string[]>()
  let checks = 0
  let codes = 0

  const verify = (form: Readonly<Record<string, string>>) => {
    const { To: to = '', Channel: channel = '', ...more } = form
    assert.deepEqual(more, {})
    if (!/^\+[1-9]\d{1,14}$/.test(to)) return fail(400, 60200, 'Invalid parameter `To`')
    if (!['sms', 'whatsapp'].includes(channel))
      return fail(400, 60200, 'Invalid parameter `Channel`')
    codes += 1
    const known = pending.get(to) ?? { code: String(314_159 + codes), channels: [], wrong: 0 }
    pending.set(to, known)
    sent.set(to, [...(sent.get(to) ?? []), channel])
    return { status: 201, body: toBody(to, 'pending') }
  }
  const check = (form: Readonly<Record<string, string>>) => {
    const { To: to = '', Code: code = '', ...more } = form
    assert.deepEqual(more, {})
    assert.match(code, /^\d{4,10}$/)
    checks += 1
    const known = pending.get(to)
    if (known === undefined) return fail(404, 20404, 'The requested resource was not found')
    if (known.wrong >= maxWrong) return fail(429, 60202, 'Max check attempts reached')
    if (known.code !== code) {
      known.wrong += 1
      return { status: 200, body: toBody(to, 'pending') }
    }
    pending.delete(to)
    return { status: 200, body: toBody(to, 'approved') }
  }
  const server = createServer(async (request, response) => {
    const form = Object.fromEntries(new URLSearchParams(await text(request)))
    const { status, body } = answer(request.url ?? '', request.headers.authorization, form)
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body))
  })
  const answer = (
    path: string,
    authorization: string | undefined,
    form: Record<string, string>,
  ) => {
    if (twilio.isDown) return fail(503, 20503, 'Service unavailable')
    if (authorization !== `Basic ${btoa(`${account}:${token}`)}`) {
      return fail(401, 20003, 'Authenticate')
    }
    if (path === `/v2/Services/${service}/Verifications`) return verify(form)
    if (path === `/v2/Services/${service}/VerificationCheck`) return check(form)
    return fail(404, 20404, `The requested resource ${path} was not found`)
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const twilio: TwilioVerify = {
    url: `http://127.0.0.1:${port}`,
    env: {
      AUTH_EXTERNAL_PHONE_ENABLED: 'true',
      GOTRUE_SMS_PROVIDER: 'twilio_verify',
      GOTRUE_SMS_TWILIO_VERIFY_ACCOUNT_SID: account,
      GOTRUE_SMS_TWILIO_VERIFY_AUTH_TOKEN: token,
      GOTRUE_SMS_TWILIO_VERIFY_MESSAGE_SERVICE_SID: service,
      AUTH_SMS_MAX_FREQUENCY: '0',
      AUTH_RATE_LIMIT_SMS_SENT: '1000000',
    },
    async codeTo(phone) {
      for (;;) {
        const code = pending.get(`+${phone}`)?.code
        if (code !== undefined) return code
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    },
    channelsTo: (phone) => sent.get(`+${phone}`) ?? [],
    get checks() {
      return checks
    },
    isDown: false,
  }
  return twilio
}

function toBody(to: string, status: 'pending' | 'approved') {
  return { sid: 'VE1', service_sid: service, to, status, valid: status === 'approved' }
}

function fail(status: number, code: number, message: string) {
  return { status, body: { code, message, status } }
}
