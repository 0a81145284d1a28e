import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTestMailbox, smsSecret } from './open-test-mailbox.ts'

const message = {
  to: '+15550100',
  message: 'Your code is 123456',
  code: '123456',
  channel: 'sms',
}

function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${smsSecret}`,
      'content-type': 'application/json',
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

test('messages of the auth server are stored, by SMS and by WhatsApp', async (t) => {
  const mailbox = await openTestMailbox(t)
  for (const channel of ['sms', 'whatsapp']) {
    const answer = await post(mailbox.smsUrl, { ...message, channel })
    assert.equal(answer.status, 200)
    const [summary] = mailbox.list()
    assert.ok(summary)
    assert.equal(summary.kind, channel)
    assert.deepEqual(summary.to, ['+15550100'])
    assert.equal(summary.excerpt, 'Your code is 123456')
    assert.equal(summary.code, '123456')
    assert.equal((await mailbox.find(summary.id))?.text, 'Your code is 123456')
  }
})

test('a message without a code may contain a link', async (t) => {
  const mailbox = await openTestMailbox(t)
  await post(mailbox.smsUrl, { to: '+15550100', message: 'Welcome: https://example.com/start.' })
  const [summary] = mailbox.list()
  assert.ok(summary)
  assert.equal(summary.code, undefined)
  assert.deepEqual((await mailbox.find(summary.id))?.links, [
    { url: 'https://example.com/start', label: '' },
  ])
})

const refusals: Readonly<
  Record<string, { status: number; says: RegExp; body?: unknown; headers?: Record<string, string> }>
> = {
  'a wrong secret': { status: 401, says: /secret/, headers: { authorization: 'Bearer guess' } },
  'no secret': { status: 401, says: /secret/, headers: { authorization: '' } },
  'a form': {
    status: 415,
    says: /application\/json/,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  },
  'invalid JSON': { status: 400, says: /must be JSON/, body: '{"to": ' },
  'an array': { status: 400, says: /JSON object/, body: [message] },
  'an invalid phone number': { status: 400, says: /"to"/, body: { ...message, to: 15550100 } },
  'no text': { status: 400, says: /"message"/, body: { ...message, message: undefined } },
  'a code that is a number': { status: 400, says: /"code"/, body: { ...message, code: 123456 } },
  'an unknown channel': { status: 400, says: /"channel"/, body: { ...message, channel: 'fax' } },
  'too large a body': {
    status: 413,
    says: /larger/,
    body: { ...message, message: 'x'.repeat(70_000) },
  },
}

test('invalid requests are refused with a reason', async (t) => {
  const mailbox = await openTestMailbox(t)
  for (const [name, { status, says, body = message, headers = {} }] of Object.entries(refusals)) {
    await t.test(name, async () => {
      const answer = await post(mailbox.smsUrl, body, headers)
      const text = await answer.text()
      assert.equal(answer.status, status)
      assert.match(JSON.parse(text).message, says)
      assert.ok(!text.includes(smsSecret))
    })
  }
  await t.test('a GET request', async () => {
    const answer = await fetch(mailbox.smsUrl)
    assert.equal(answer.status, 405)
    assert.equal(answer.headers.get('allow'), 'POST')
  })
  assert.deepEqual(mailbox.list(), [])
})
