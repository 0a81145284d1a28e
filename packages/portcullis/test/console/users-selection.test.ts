import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { openConsoleWithAuth } from '../support/console-with-auth.ts'

const userId = '3f0c8a52-6d0c-4c3e-9a57-0d0f6f0a1b2c'

interface AuthAnswer {
  readonly status?: number
  readonly body: unknown
}

/** Opens a console with an auth server that answers as the test says. */
async function openRoutes(
  t: TestContext,
  answer: (request: IncomingMessage, body: unknown) => AuthAnswer,
) {
  const requests: unknown[] = []
  const { url, headers } = await openConsoleWithAuth(t, async (request, response) => {
    const body = request.method === 'POST' ? await json(request) : undefined
    requests.push([request.method, request.url, ...(body === undefined ? [] : [body])])
    const { status = 200, body: answered } = answer(request, body)
    response.writeHead(status, { 'content-type': 'application/json', 'x-total-count': '1' })
    response.end(JSON.stringify(answered))
  })
  const call = async (path: string, body?: unknown) => {
    requests.length = 0
    const response = await fetch(`${url}/api/users${path}`, {
      headers: { ...headers, 'content-type': 'application/json' },
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, text, body: JSON.parse(text) }
  }
  return { requests, call }
}

test('the filters and the sort order reach the auth server', async (t) => {
  const { requests, call } = await openRoutes(t, () => ({ body: { users: [], total: 0 } }))
  const search =
    '?confirmed=true&banned=false&anonymous=false&second_factor=true&signed_in=true&provider=google' +
    '&created_after=2026-01-01&created_before=2026-02-01&last_sign_in_after=2026-01-01' +
    '&last_sign_in_before=2026-02-01&order_by=email+desc'
  assert.equal((await call(search)).status, 200)
  assert.deepEqual(requests, [['GET', `/admin/users${search}`]])
})

test('if an auth server ignores filters, its result is not shown', async (t) => {
  const { call } = await openRoutes(t, () => ({ body: { users: [{ id: userId }] } }))
  assert.equal((await call('?filter=ada&sort=created_at+asc')).status, 200)
  for (const search of ['?confirmed=true', '?order_by=email', '?provider=google&limit=1000']) {
    const { status, body } = await call(search)
    assert.deepEqual([status, body.error.code], [501, 'no_selection'], search)
  }
  assert.equal((await call('?confirmed=')).status, 200)
})

test('a link for impersonation is returned only if the audit log names it', async (t) => {
  let impersonation: boolean | undefined
  const { requests, call } = await openRoutes(t, () => ({
    body: { action_link: 'https://auth.example/verify?token=secret', impersonation },
  }))
  const link = { type: 'magiclink', email: 'ada@example.org' }
  const refused = await call('/generate-link', { ...link, impersonation: true })
  assert.deepEqual([refused.status, refused.body.error.code], [501, 'no_impersonation'])
  assert.ok(!refused.text.includes('secret'))
  assert.equal((await call('/generate-link', link)).status, 200)
  impersonation = true
  const { status } = await call('/generate-link', { ...link, impersonation })
  assert.equal(status, 200)
  assert.deepEqual(requests, [['POST', '/admin/generate_link', { ...link, impersonation }]])
})

test('errors of the auth server about a filter are forwarded', async (t) => {
  const refusal = { code: 400, error_code: 'validation_failed', msg: 'confirmed must be …' }
  const { call } = await openRoutes(t, () => ({ status: 400, body: refusal }))
  const { status, body } = await call('?confirmed=maybe')
  assert.deepEqual([status, body], [400, refusal])
})

test('an email is sent by the auth server, and its link stays on the server', async (t) => {
  const { requests, call } = await openRoutes(t, ({ method }) => ({
    body:
      method === 'GET'
        ? { id: userId, email: 'ada@example.org' }
        : { sent: true, action_link: 'https://auth.example/verify?token=secret' },
  }))
  for (const type of ['recovery', 'magiclink', 'signup', 'invite']) {
    const { status, body } = await call(`/${userId}/mail`, { type })
    assert.deepEqual([status, body], [200, { email: 'ada@example.org' }])
    assert.deepEqual(requests, [
      ['GET', `/admin/users/${userId}`],
      ['POST', '/admin/generate_link', { type, email: 'ada@example.org', send: true }],
    ])
  }
  const redirected = { type: 'recovery', redirect_to: 'https://site.example/' }
  await call(`/${userId}/mail`, redirected)
  assert.deepEqual(requests.at(-1), [
    'POST',
    '/admin/generate_link',
    { ...redirected, email: 'ada@example.org', send: true },
  ])
})

test('an email that cannot be sent is reported', async (t) => {
  let user: AuthAnswer = { body: { id: userId, email: '' } }
  let link: AuthAnswer = { body: { action_link: 'https://auth.example/verify?token=secret' } }
  const { requests, call } = await openRoutes(t, ({ method }) => (method === 'GET' ? user : link))
  const mail = () => call(`/${userId}/mail`, { type: 'recovery' })
  assert.deepEqual((await mail()).body.error.code, 'no_email')
  user = { status: 404, body: { code: 404, error_code: 'user_not_found', msg: 'User not found' } }
  assert.deepEqual([(await mail()).status, requests.length], [404, 1])
  user = { body: { id: userId, email: 'ada@example.org' } }
  const unsent = await mail()
  assert.deepEqual([unsent.status, unsent.body.error.code], [501, 'not_sent'])
  assert.ok(!unsent.text.includes('secret'))
  link = {
    status: 429,
    body: { code: 429, error_code: 'over_email_send_rate_limit', msg: 'later' },
  }
  assert.deepEqual((await mail()).body, link.body)
  const { status } = await call(`/${userId}/mail`, { type: 'email_change_new' })
  assert.equal(status, 400)
})
