import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import type { SmsGatewayName } from '../../src/plugins/sms/index.ts'

/** A received request. */
export interface GatewayCall {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** The response; a string body is sent unchanged, any other as JSON. */
export interface GatewayReply {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** The documented protocol of one gateway. */
export interface GatewayShape {
  /** The environment of our server. `URL` stands for the URL of the gateway. */
  readonly env: Readonly<Record<string, string>>
  /** Asserts that a request is as documented. */
  assertCall(call: GatewayCall, message: ExpectedText): void
  /** The response to an accepted message. */
  readonly accepted: GatewayReply
  readonly refused: readonly RefusedCase[]
}

export interface ExpectedText {
  /** The phone number, digits only. */
  readonly to: string
  readonly text: string
  readonly code: string
}

export interface RefusedCase {
  readonly reply: GatewayReply
  readonly reason: RegExp
  readonly isFinal: boolean
}

const formType = /^application\/x-www-form-urlencoded(?:;charset=UTF-8)?$/i

function assertForm(
  { method, headers, body }: GatewayCall,
  fields: Readonly<Record<string, string>>,
): void {
  assert.equal(method, 'POST')
  assert.match(headers['content-type'] ?? '', formType)
  const sent = [...new URLSearchParams(body)]
  assert.deepEqual(Object.fromEntries(sent), fields)
  assert.equal(sent.length, Object.keys(fields).length)
}

/** The responses are those in the documentation of each gateway. */
export const gatewayShapes: Readonly<Record<SmsGatewayName, GatewayShape>> = {
  twilio: {
    env: {
      AUTH_SMS_PROVIDER: 'twilio',
      AUTH_SMS_GATEWAYA_ACCOUNT_SID: 'AC00000000000000000000000000000001',
      AUTH_SMS_GATEWAYA_AUTH_TOKEN: 'twilio-token',
      AUTH_SMS_GATEWAYA_MESSAGE_SERVICE_SID: 'MG00000000000000000000000000000002',
    },
    assertCall(call, { to, text }) {
      assert.equal(
        call.path,
        '/2010-04-01/Accounts/AC00000000000000000000000000000001/Messages.json',
      )
      const credentials = btoa('AC00000000000000000000000000000001:twilio-token')
      assert.equal(call.headers.authorization, `Basic ${credentials}`)
      assertForm(call, {
        To: `+${to}`,
        Channel: 'sms',
        From: 'MG00000000000000000000000000000002',
        Body: text,
      })
    },
    accepted: {
      status: 201,
      body: { sid: 'SM1', status: 'queued', error_code: null, error_message: null },
    },
    refused: [
      {
        reply: {
          status: 400,
          body: {
            code: 21211,
            message: "The 'To' number +15550100001 is not a valid phone number.",
            more_info: 'https://www.twilio.com/docs/errors/21211',
            status: 400,
          },
        },
        reason: /^twilio error: The 'To' number .+ is not a valid phone number\. \(21211\)$/,
        isFinal: true,
      },
      {
        reply: {
          status: 201,
          body: { sid: 'SM1', status: 'failed', error_code: 30006, error_message: 'Landline' },
        },
        reason: /^twilio error: Landline \(30006\)$/,
        isFinal: true,
      },
      {
        reply: { status: 201, body: { sid: 'SM1', status: 'undelivered' } },
        reason: /^twilio error: undelivered/,
        isFinal: true,
      },
      {
        reply: { status: 401, body: { code: 20003, message: 'Authenticate', status: 401 } },
        reason: /^twilio error: Authenticate \(20003\)$/,
        isFinal: false,
      },
      {
        reply: { status: 429, body: { code: 20429, message: 'Too Many Requests', status: 429 } },
        reason: /Too Many Requests/,
        isFinal: false,
      },
      { reply: { status: 200, body: {} }, reason: /contains no message SID/, isFinal: false },
    ],
  },
  twilio_verify: {
    env: {
      AUTH_SMS_PROVIDER: 'twilio_verify',
      AUTH_SMS_TWILIO_VERIFY_ACCOUNT_SID: 'AC00000000000000000000000000000001',
      AUTH_SMS_TWILIO_VERIFY_AUTH_TOKEN: 'twilio-token',
      AUTH_SMS_TWILIO_VERIFY_MESSAGE_SERVICE_SID: 'VA00000000000000000000000000000003',
    },
    // Twilio writes the text itself.
    assertCall(call, { to }) {
      assert.equal(call.path, '/v2/Services/VA00000000000000000000000000000003/Verifications')
      const credentials = btoa('AC00000000000000000000000000000001:twilio-token')
      assert.equal(call.headers.authorization, `Basic ${credentials}`)
      assertForm(call, { To: `+${to}`, Channel: 'sms' })
    },
    accepted: { status: 201, body: { sid: 'VE1', status: 'pending', valid: false } },
    refused: [
      {
        reply: {
          status: 400,
          body: { code: 60200, message: 'Invalid parameter `To`: +15550100001', status: 400 },
        },
        reason: /^twilio error: Invalid parameter `To`: .+ \(60200\)$/,
        isFinal: true,
      },
      {
        reply: { status: 429, body: { code: 60203, message: 'Max send attempts reached' } },
        reason: /^twilio error: Max send attempts reached \(60203\)$/,
        isFinal: false,
      },
      {
        reply: { status: 401, body: { code: 20003, message: 'Authenticate', status: 401 } },
        reason: /^twilio error: Authenticate \(20003\)$/,
        isFinal: false,
      },
      { reply: { status: 200, body: {} }, reason: /contains no verification SID/, isFinal: false },
    ],
  },
  messagebird: {
    env: {
      AUTH_SMS_PROVIDER: 'messagebird',
      AUTH_SMS_GATEWAYB_ACCESS_KEY: 'bird-key',
      AUTH_SMS_GATEWAYB_ORIGINATOR: 'Portcullis',
    },
    assertCall(call, { to, text }) {
      assert.equal(call.path, '/messages')
      assert.equal(call.headers.authorization, 'AccessKey bird-key')
      assertForm(call, {
        originator: 'Portcullis',
        body: text,
        recipients: to,
        type: 'sms',
        datacoding: 'unicode',
      })
    },
    accepted: {
      status: 201,
      body: { id: 'b1', recipients: { totalCount: 1, totalSentCount: 1, items: [] } },
    },
    refused: [
      {
        reply: {
          status: 422,
          body: {
            errors: [
              { code: 9, description: 'no (correct) recipients found', parameter: 'recipients' },
            ],
          },
        },
        reason: /^messagebird error: no \(correct\) recipients found \(code: 9\) parameter: reci/,
        isFinal: true,
      },
      {
        reply: { status: 402, body: { errors: [{ code: 25, description: 'no balance' }] } },
        reason: /no balance \(code: 25\)/,
        isFinal: false,
      },
      {
        reply: { status: 201, body: { id: 'b1', recipients: { totalSentCount: 0 } } },
        reason: /total sent count: 0/,
        isFinal: true,
      },
      {
        reply: { status: 401, body: { errors: [{ code: 2, description: 'not allowed' }] } },
        reason: /not allowed/,
        isFinal: false,
      },
    ],
  },
  textlocal: {
    env: {
      AUTH_SMS_PROVIDER: 'textlocal',
      AUTH_SMS_TEXTLOCAL_API_KEY: 'local-key',
      AUTH_SMS_TEXTLOCAL_SENDER: 'PORTCU',
    },
    assertCall(call, { to, text }) {
      assert.equal(call.path, '/send')
      assertForm(call, { sender: 'PORTCU', apikey: 'local-key', message: text, numbers: to })
    },
    accepted: { status: 200, body: { status: 'success', messages: [{ id: 't1' }] } },
    refused: [
      {
        reply: {
          status: 200,
          body: {
            status: 'failure',
            errors: [{ code: 51, message: 'No valid numbers specified' }],
          },
        },
        reason: /^textlocal error: No valid numbers specified \(code: 51\)$/,
        isFinal: true,
      },
      {
        reply: {
          status: 200,
          body: { status: 'failure', errors: [{ code: 80, message: 'Invalid template' }] },
        },
        reason: /Invalid template \(code: 80\)\. The text of AUTH_SMS_TEMPLATE must be/,
        isFinal: true,
      },
      {
        reply: {
          status: 200,
          body: { status: 'failure', errors: [{ code: 7, message: 'Insufficient credits' }] },
        },
        reason: /Insufficient credits/,
        isFinal: false,
      },
      { reply: { status: 200, body: {} }, reason: /the response status was 200/, isFinal: false },
    ],
  },
  vonage: {
    env: {
      AUTH_SMS_PROVIDER: 'vonage',
      AUTH_SMS_VONAGE_API_KEY: 'vonage-key',
      AUTH_SMS_VONAGE_API_SECRET: 'vonage-secret',
      AUTH_SMS_VONAGE_FROM: 'Portcullis',
    },
    assertCall(call, { to, text }) {
      assert.equal(call.path, '/sms/json')
      assertForm(call, {
        from: 'Portcullis',
        to,
        text,
        api_key: 'vonage-key',
        api_secret: 'vonage-secret',
        ...(/[^\p{ASCII}]/u.test(text) && { type: 'unicode' }),
      })
    },
    accepted: {
      status: 200,
      body: { 'message-count': '1', messages: [{ status: '0', 'message-id': 'v1' }] },
    },
    refused: [
      {
        reply: {
          status: 200,
          body: { messages: [{ status: '7', 'error-text': 'Number barred' }] },
        },
        reason: /^vonage error: Number barred \(status: 7\)$/,
        isFinal: true,
      },
      {
        reply: {
          status: 200,
          body: { messages: [{ status: '0' }, { status: '5', 'error-text': 'Internal Error' }] },
        },
        reason: /Internal Error \(status: 5\)/,
        isFinal: false,
      },
      {
        reply: { status: 200, body: { messages: [{ status: '1', 'error-text': 'Throttled' }] } },
        reason: /Throttled/,
        isFinal: false,
      },
      {
        reply: { status: 200, body: { messages: [] } },
        reason: /response status was 200/,
        isFinal: false,
      },
    ],
  },
  webhook: {
    env: {
      AUTH_SMS_PROVIDER: 'webhook',
      AUTH_SMS_WEBHOOK_URL: 'URL/sms?from=auth',
      AUTH_SMS_WEBHOOK_SECRET: 'webhook-secret',
    },
    assertCall({ method, path, headers, body }, { to, text, code }) {
      assert.deepEqual([method, path], ['POST', '/sms?from=auth'])
      assert.equal(headers['content-type'], 'application/json')
      assert.equal(headers.authorization, 'Bearer webhook-secret')
      assert.deepEqual(JSON.parse(body), { to: `+${to}`, message: text, code, channel: 'sms' })
    },
    accepted: { status: 204, body: '' },
    refused: [
      {
        reply: { status: 422, body: 'no' },
        reason: /^the webhook responded with 422$/,
        isFinal: true,
      },
      { reply: { status: 401, body: '' }, reason: /responded with 401/, isFinal: false },
      { reply: { status: 302, body: '' }, reason: /responded with 302/, isFinal: false },
    ],
  },
}

export interface GatewayServer {
  readonly url: string
  readonly calls: readonly GatewayCall[]
  /** The response to the next requests; null for no response. */
  reply: GatewayReply | null
}

/** A gateway that records requests and returns the configured response. */
export async function openGatewayServer(
  t: TestContext,
  reply: GatewayReply,
): Promise<GatewayServer> {
  const calls: GatewayCall[] = []
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { method = '', url: path = '', headers } = request
    calls.push({ method, path, headers, body: Buffer.concat(chunks).toString('utf8') })
    if (gateway.reply === null) return
    const { status, body, headers: own = {} } = gateway.reply
    response.writeHead(status, { 'content-type': 'application/json', ...own })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }
  const server = createServer((request, response) => void answer(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const gateway: GatewayServer = { url: `http://127.0.0.1:${port}`, calls, reply }
  return gateway
}

/** Replaces `URL` in the environment by the URL of a gateway. */
export function withUrl(
  env: Readonly<Record<string, string>>,
  url: string,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(env).map(([name, value]) => [name, value.replace(/^URL/, url)]),
  )
}
