/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorOf, type FlowServer, openFlowServer } from '../../support/flow-server.ts'
import { newEmail, password, sdk, send } from '../../support/http-client.ts'

const another = 'another correct horse'
const needed = [400, 'reauthentication_needed', 'Password update requires reauthentication']
const notValid = [422, 'reauthentication_not_valid', 'Nonce has expired or is invalid']

async function newSession(server: FlowServer) {
  const { id, email } = await server.newUser()
  const { body } = await server.post('/token?grant_type=password', { email, password })
  return { id, email, token: body.access_token as string }
}

/** Reads the code from the outbox, because the message contains no link. */
async function codeTo(server: FlowServer, email: string): Promise<string> {
  const [row] = await server.query(
    "select payload ->> 'Token' as code, kind from outbox where recipient = $1 order by id desc",
    [email],
  )
  assert.equal(row?.kind, 'reauthentication')
  return row.code
}

test('GET /reauthenticate and the password change that it allows', async (t) => {
  const server = await openFlowServer(t, {
    AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_REAUTHENTICATION: 'true',
  })
  if (!server) return
  const { url, query } = server
  const reauthenticate = (token: string) => send(url, '/reauthenticate', { token })
  const setPassword = (token: string, body: object) =>
    send(url, '/user', { method: 'PUT', token, body })

  await t.test('a code is sent by email, in two statements, and works once', async () => {
    const { id, email, token } = await newSession(server)
    assert.deepEqual(errorOf(await setPassword(token, { password: another })), needed)
    server.takeStatements()
    const sent = await reauthenticate(token)
    assert.deepEqual([sent.status, sent.body], [200, {}])
    assert.deepEqual(server.takeStatements(), ['find_caller', 'request_reauthentication_sent_at'])
    assert.ok((await send(url, '/user', { token })).body.reauthentication_sent_at)
    const nonce = await codeTo(server, email)
    assert.match(nonce, /^\d{6}$/)
    server.takeStatements()
    const changed = await setPassword(token, { password: another, nonce })
    assert.equal(changed.status, 200, JSON.stringify(changed.body))
    const statements = server.takeStatements()
    assert.deepEqual(statements, [
      'find_caller',
      'check_user_update',
      'update_user',
      'end_sessions_meanwhile',
    ])
    assert.deepEqual(errorOf(await setPassword(token, { password, nonce })), notValid)
    const actions = await server.actionsOf(id)
    assert.ok(actions.includes('user_reauthenticate_requested'))
  })

  await t.test('a nonce is used up only when the password changes', async () => {
    const { email, token } = await newSession(server)
    await reauthenticate(token)
    const nonce = await codeTo(server, email)
    assert.equal((await setPassword(token, { data: { a: 1 }, nonce })).status, 200)
    const same = await setPassword(token, { password, nonce })
    assert.equal(same.body.error_code, 'same_password')
    assert.equal((await setPassword(token, { password: another, nonce })).status, 200)
  })

  await t.test('only one of several concurrent changes with a code succeeds', async () => {
    const { email, token } = await newSession(server)
    await reauthenticate(token)
    const nonce = await codeTo(server, email)
    const answers = await Promise.all(
      ['first new password', 'second new password', 'third new password'].map((secret) =>
        setPassword(token, { password: secret, nonce }),
      ),
    )
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 422, 422])
  })

  await t.test("another user's code does not work", async () => {
    const [one, other] = [await newSession(server), await newSession(server)]
    await reauthenticate(one.token)
    await reauthenticate(other.token)
    const nonce = await codeTo(server, other.email)
    const answer = await setPassword(one.token, { password: another, nonce })
    assert.deepEqual(errorOf(answer), notValid)
  })

  await t.test(
    'after five wrong codes the right one fails, even if they arrive concurrently',
    async () => {
      const { email, token } = await newSession(server)
      await reauthenticate(token)
      const nonce = await codeTo(server, email)
      const wrong = nonce === '000000' ? '000001' : '000000'
      const answers = await Promise.all(
        Array.from({ length: 5 }, () => setPassword(token, { password: another, nonce: wrong })),
      )
      for (const answer of answers) assert.deepEqual(errorOf(answer), notValid)
      assert.deepEqual(errorOf(await setPassword(token, { password: another, nonce })), notValid)
    },
  )

  await t.test(
    'an expired code does not work, and neither does one that has been replaced',
    async (t) => {
      t.after(() => {
        server.clock.aheadMs = 0
      })
      const { id, email, token } = await newSession(server)
      await reauthenticate(token)
      const early = await reauthenticate(token)
      assert.deepEqual([early.status, early.body.error_code], [429, 'over_email_send_rate_limit'])
      assert.match(early.body.msg, /you can only request this after \d+ seconds\.$/)
      const first = await codeTo(server, email)
      server.clock.aheadMs = 900_000
      assert.equal((await reauthenticate(token)).status, 200)
      const second = await codeTo(server, email)
      const replaced = await setPassword(token, { password: another, nonce: first })
      // There is a one in a million chance that the two codes are equal.
      if (first !== second) assert.deepEqual(errorOf(replaced), notValid)
      await query(
        "update one_time_tokens set expires_at = expires_at - interval '1 hour' where user_id = $1",
        [id],
      )
      const expired = await setPassword(token, { password: another, nonce: second })
      assert.deepEqual(errorOf(expired), notValid)
    },
  )

  await t.test('a session from a recovery link needs no reauthentication', async () => {
    const { email } = await server.newUser()
    await server.post('/recover', { email })
    const { token } = await server.mailTo(email)
    const { body } = await server.post('/verify', { type: 'recovery', token })
    assert.equal((await setPassword(body.access_token, { password: another })).status, 200)
  })

  await t.test('requires a confirmed email address or phone number', async () => {
    const { id, token } = await newSession(server)
    await query('update users set email_confirmed_at = null where id = $1', [id])
    assert.deepEqual(errorOf(await reauthenticate(token)), [
      422,
      'email_not_confirmed',
      'Please verify your email first.',
    ])
    await query('update users set email = null where id = $1', [id])
    assert.deepEqual(errorOf(await reauthenticate(token)), [
      400,
      'validation_failed',
      'Reauthentication requires the user to have an email or a phone number',
    ])
    await query("update users set phone = '15550123' where id = $1", [id])
    assert.deepEqual(errorOf(await reauthenticate(token)), [
      422,
      'phone_not_confirmed',
      'Please verify your phone first.',
    ])
    await query('update users set phone_confirmed_at = now() where id = $1', [id])
    const { body } = await send(url, '/reauthenticate', { token, headers: sdk })
    assert.deepEqual(
      [body.code, body.message],
      ['unexpected_failure', 'Unable to get SMS provider'],
    )
    assert.equal((await send(url, '/reauthenticate')).status, 401)
  })
})

test('the current password is required when configured, except after a recovery', async (t) => {
  const server = await openFlowServer(t, {
    AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_CURRENT_PASSWORD: 'true',
  })
  if (!server) return
  const { email, token } = await newSession(server)
  const put = (token: string, body: object) =>
    send(server.url, '/user', { method: 'PUT', token, body })
  assert.deepEqual(errorOf(await put(token, { password: another })), [
    400,
    'current_password_required',
    'Current password required when setting new password.',
  ])
  await server.post('/recover', { email })
  const mail = await server.mailTo(email)
  const { body } = await server.post('/verify', { type: 'recovery', token: mail.token })
  assert.equal((await put(body.access_token, { password: another })).status, 200)
  const right = { password, current_password: another }
  assert.equal((await put(body.access_token, right)).status, 200)
  assert.equal((await put(body.access_token, { email: newEmail() })).status, 200)
})
