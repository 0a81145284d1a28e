/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import {
  errorOf,
  type FlowServer,
  fragmentOf,
  type Mail,
  openFlowServer,
  queryOf,
} from '../../support/flow-server.ts'
import { newEmail, password, send } from '../../support/http-client.ts'

const halfMessage =
  'Confirmation link accepted. Please proceed to confirm link sent to the other email'

const changedMessage = 'Confirmation link accepted. The email address has been changed'

/** Creates a user with a pending email change. */
async function openChange(server: FlowServer, more: object = {}) {
  const { id, email } = await server.newUser()
  const next = newEmail()
  const login = await server.post('/token?grant_type=password', { email, password })
  const { status, body } = await send(server.url, '/user', {
    method: 'PUT',
    token: login.body.access_token,
    body: { email: next, ...more },
  })
  assert.deepEqual([status, body.email, body.new_email], [200, email, next])
  const toNext = await server.mailTo(next)
  const [toCurrent] = await server.mailsTo(email)
  return { id, email, next, toNext, toCurrent }
}

const present = (mail: Mail | undefined): Mail => {
  assert.ok(mail)
  return mail
}

test('an email change is confirmed at both addresses', async (t) => {
  const server = await openFlowServer(t)
  if (!server) return
  const { url, post, query } = server
  const half = (body: unknown) => assert.deepEqual(body, { code: '200', msg: halfMessage })

  await t.test('in either order, by link or by code', async () => {
    for (const isNewFirst of [true, false]) {
      const { id, email, next, toNext, ...change } = await openChange(server)
      const toCurrent = present(change.toCurrent)
      const [first, second] = isNewFirst ? [toNext, toCurrent] : [toCurrent, toNext]
      const accepted = await post('/verify', { type: 'email_change', token: first.token })
      assert.equal(accepted.status, 200)
      half(accepted.body)
      // Confirming the same address twice does not complete the change.
      const again = await post('/verify', { type: 'email_change', token: first.token })
      assert.deepEqual([again.status, again.body.error_code], [403, 'otp_expired'])
      const [waiting] = await query('select * from users where id = $1', [id])
      assert.deepEqual([waiting.email, waiting.email_change], [email, next])
      server.takeStatements()
      const done = await post('/verify', {
        type: 'email_change',
        token: second.code,
        email: second.recipient,
      })
      assert.equal(done.status, 200, JSON.stringify(done.body))
      assert.deepEqual(server.takeStatements(), ['change_by_digits'])
      assert.equal(done.body.type, 'email_change')
      const { user } = done.body
      assert.equal(user.email, next)
      assert.equal(user.new_email, undefined)
      assert.equal(user.email_change_sent_at, undefined)
      assert.equal(user.user_metadata.email, next)
      assert.equal(user.identities.length, 1)
      assert.equal(user.identities[0].email, next)
      assert.equal(user.identities[0].identity_data.email, next)
      assert.equal(user.identities[0].identity_data.email_verified, true)
      assert.equal((await server.actionsOf(id)).at(-1), 'user_modified')
      assert.deepEqual(await query('select 1 from one_time_tokens where user_id = $1', [id]), [])
      const login = await post('/token?grant_type=password', { email: next, password })
      assert.equal(login.status, 200)
    }
  })

  await t.test('in the browser, with a message in the fragment halfway', async () => {
    const { toNext, toCurrent } = await openChange(server)
    const first = await send(url, toNext.path)
    assert.equal(
      first.headers.get('location'),
      'https://site.example#message=Confirmation+link+accepted.+Please+proceed+to+confirm+link' +
        '+sent+to+the+other+email&sb=',
    )
    const second = fragmentOf(await send(url, present(toCurrent).path))
    assert.equal(second['type'], 'email_change')
    assert.ok(second['access_token'])
  })

  await t.test(
    'in a PKCE flow, with the message also in the query and a code at the end',
    async () => {
      const verifier = randomBytes(56).toString('hex')
      const challenge = createHash('sha256').update(verifier).digest('base64url')
      const pkce = { code_challenge: challenge, code_challenge_method: 's256' }
      const { id, next, toNext, toCurrent } = await openChange(server, pkce)
      const first = await send(url, present(toCurrent).path)
      assert.deepEqual(queryOf(first), { message: halfMessage })
      assert.deepEqual(fragmentOf(first), { message: halfMessage, sb: '' })
      const { code } = queryOf(await send(url, toNext.path))
      const { status, body } = await post('/token?grant_type=pkce', {
        auth_code: code,
        code_verifier: verifier,
      })
      assert.equal(status, 200, JSON.stringify(body))
      assert.deepEqual([body.user.id, body.user.email], [id, next])
    },
  )

  await t.test('concurrent confirmations complete the change only once', async () => {
    const { id, next, toNext, toCurrent } = await openChange(server)
    const verify = ({ token }: Mail) => post('/verify', { type: 'email_change', token })
    const answers = await Promise.all(
      [toNext, present(toCurrent)].flatMap((mail) => [verify(mail), verify(mail), verify(mail)]),
    )
    const whole = answers.filter(
      ({ body }) => body.access_token !== undefined || body.msg === changedMessage,
    )
    const halves = answers.filter(({ body }) => body.msg === halfMessage)
    assert.deepEqual([whole.length, halves.length], [1, 1])
    const [user] = await query('select email from users where id = $1', [id])
    assert.equal(user.email, next)
  })

  await t.test('a concurrent change of the user is not lost', async () => {
    const { id, next, toNext, toCurrent } = await openChange(server)
    const first = await server.whileChanged(id, () =>
      post('/verify', { type: 'email_change', token: toNext.token }),
    )
    half(first.body)
    const { body } = await server.whileChanged(id, () =>
      post('/verify', { type: 'email_change', token: present(toCurrent).token }),
    )
    assert.deepEqual([body.user?.email, body.user?.user_metadata.changed], [next, true])
  })

  await t.test('the change fails if another user has taken the address meanwhile', async () => {
    const { id, email, next, toNext, toCurrent } = await openChange(server)
    await post('/verify', { type: 'email_change', token: present(toCurrent).token })
    await post('/signup', { email: next, password })
    const taken = {
      error_code: 'email_exists',
      error_description: 'A user with this email address has already been registered',
    }
    assert.deepEqual(fragmentOf(await send(url, toNext.path)), { ...taken, sb: '' })
    const answer = await post('/verify', { type: 'email_change', token: toNext.token })
    assert.deepEqual(errorOf(answer), [422, taken.error_code, taken.error_description])
    const [user] = await query('select email from users where id = $1', [id])
    assert.equal(user.email, email)
  })

  await t.test('the code for one address does not work for the other', async () => {
    const { email, toNext } = await openChange(server)
    const swapped = await post('/verify', { type: 'email_change', token: toNext.code, email })
    assert.deepEqual([swapped.status, swapped.body.error_code], [403, 'otp_expired'])
  })
})

test('an email change is confirmed only at the new address when secure email change is disabled', async (t) => {
  const server = await openFlowServer(t, { AUTH_MAILER_SECURE_EMAIL_CHANGE_ENABLED: 'false' })
  if (!server) return
  for (const how of ['link', 'digits'] as const) {
    const { id, next, toNext, toCurrent } = await openChange(server)
    assert.equal(toCurrent, undefined)
    const proof = how === 'link' ? { token: toNext.token } : { token: toNext.code, email: next }
    const { body } = await server.post('/verify', { type: 'email_change', ...proof })
    if (how === 'link') assert.deepEqual(body, { code: '200', msg: changedMessage })
    else assert.equal(body.user?.email, next, JSON.stringify(body))
    const [user] = await server.query('select email from users where id = $1', [id])
    assert.equal(user.email, next)
  }
})

test('an anonymous user becomes permanent by confirming an address', async (t) => {
  const server = await openFlowServer(t, { AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true' })
  if (!server) return
  const { post } = server
  const anonymous = await post('/signup', { data: { theme: 'dark' } })
  assert.equal(anonymous.status, 200, JSON.stringify(anonymous.body))
  const { id } = anonymous.body.user
  const email = newEmail()
  const changed = await send(server.url, '/user', {
    method: 'PUT',
    token: anonymous.body.access_token,
    body: { email },
  })
  assert.equal(changed.status, 200, JSON.stringify(changed.body))
  const { token } = await server.mailTo(email)
  const { status, body } = await post('/verify', { type: 'email_change', token_hash: token })
  assert.deepEqual([status, body], [200, { code: '200', msg: changedMessage }])
  const own = await send(server.url, '/user', { token: anonymous.body.access_token })
  const { body: user } = own
  assert.deepEqual([user.id, user.email, user.is_anonymous], [id, email, false])
  assert.ok(user.email_confirmed_at)
  assert.deepEqual(user.user_metadata, { theme: 'dark', email_verified: true })
  assert.deepEqual(user.app_metadata, { provider: 'email', providers: ['email'] })
  assert.equal(user.identities.length, 1)
  assert.deepEqual(user.identities[0].identity_data, {
    sub: id,
    email,
    email_verified: true,
    phone_verified: false,
  })
})
