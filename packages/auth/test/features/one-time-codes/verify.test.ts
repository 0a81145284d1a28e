/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorOf, openFlowServer } from '../../support/flow-server.ts'
import { type HttpAnswer, newEmail, password, sdk, send } from '../../support/http-client.ts'

const badLink = [403, 'otp_expired', 'Email link is invalid or has expired']
const badDigits = [403, 'otp_expired', 'Token has expired or is invalid']

test('POST /verify', async (t) => {
  const server = await openFlowServer(t, {
    AUTH_PASSWORD_HASH: 'bcrypt',
    AUTH_JWT_ALLOWED_AUDIENCES: 'another',
  })
  if (!server) return
  const { post, mailTo, query } = server
  const signUp = async () => {
    const email = newEmail()
    const { body } = await post('/signup', { email, password, data: { a: 1 } })
    return { email, id: body.id, mail: await mailTo(email) }
  }

  await t.test('confirms a sign-up with the token from the link, in one statement', async () => {
    const { id, mail } = await signUp()
    server.takeStatements()
    const { status, body } = await post('/verify', { type: 'signup', token: mail.token })
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual(server.takeStatements(), ['confirm_by_link'])
    assert.equal(body.type, 'signup')
    assert.equal(body.token_type, 'bearer')
    assert.equal(body.expires_in, 3600)
    assert.equal(body.user.id, id)
    assert.ok(body.user.email_confirmed_at)
    assert.ok(body.user.last_sign_in_at)
    assert.equal(body.user.user_metadata.a, 1)
    assert.equal(body.user.user_metadata.email_verified, true)
    assert.equal(body.user.identities.length, 1)
    assert.equal(body.user.identities[0].identity_data.email_verified, true)
    assert.deepEqual(body.user.app_metadata, { provider: 'email', providers: ['email'] })
    const user = await send(server.url, '/user', { token: body.access_token })
    assert.equal(user.body.identities[0].identity_data.email_verified, true)
    const claims = JSON.parse(Buffer.from(body.access_token.split('.')[1], 'base64url').toString())
    assert.equal(claims.amr[0].method, 'otp')
    assert.deepEqual(await server.actionsOf(id), ['user_confirmation_requested', 'user_signedup'])
    const refreshed = await post('/token?grant_type=refresh_token', {
      refresh_token: body.refresh_token,
    })
    assert.equal(refreshed.status, 200)
    const login = await post('/token?grant_type=password', { email: user.body.email, password })
    assert.equal(login.status, 200)
  })

  await t.test('accepts the token as token_hash, and a code with an address', async () => {
    const first = await signUp()
    const byHash = await post('/verify', { type: 'signup', token_hash: first.mail.token }, sdk)
    assert.equal(byHash.status, 200, JSON.stringify(byHash.body))
    const second = await signUp()
    server.takeStatements()
    const byDigits = await post('/verify', {
      type: 'email',
      token: second.mail.code,
      email: second.email.toUpperCase(),
      redirect_to: 'https://site.example/welcome',
    })
    assert.equal(byDigits.status, 200, JSON.stringify(byDigits.body))
    assert.equal(byDigits.body.type, 'signup')
    assert.deepEqual(server.takeStatements(), ['confirm_by_digits'])
  })

  await t.test('a token works once, and only until it expires', async () => {
    const { email, mail } = await signUp()
    const again = { type: 'signup', token: mail.token }
    assert.equal((await post('/verify', again)).status, 200)
    assert.deepEqual(errorOf(await post('/verify', again)), badLink)
    const digits = { type: 'signup', token: mail.code, email }
    assert.deepEqual(errorOf(await post('/verify', digits)), badDigits)

    const late = await signUp()
    server.clock.aheadMs += 3_601_000
    const lateLink = { type: 'signup', token: late.mail.token }
    assert.deepEqual(errorOf(await post('/verify', lateLink)), badLink)
    const lateDigits = { type: 'signup', token: late.mail.code, email: late.email }
    assert.deepEqual(errorOf(await post('/verify', lateDigits)), badDigits)
    server.clock.aheadMs -= 61_000
    assert.equal((await post('/verify', lateLink)).status, 200)
  })

  await t.test('only one of many concurrent requests with the same token gets tokens', async () => {
    for (const how of ['link', 'digits'] as const) {
      const { id, email, mail } = await signUp()
      const body =
        how === 'link'
          ? { type: 'signup', token: mail.token }
          : { type: 'signup', token: mail.code, email }
      const answers = await Promise.all(Array.from({ length: 20 }, () => post('/verify', body)))
      const statuses = answers.map(({ status }) => status).toSorted()
      assert.deepEqual(statuses, [200, ...Array.from({ length: 19 }, () => 403)])
      const sessions = await query('select 1 from sessions where user_id = $1', [id])
      assert.equal(sessions.length, 1)
    }
  })

  await t.test('five wrong guesses invalidate a code; the link keeps working', async () => {
    const { email, mail } = await signUp()
    const wrong = mail.code === '000000' ? '000001' : '000000'
    for (let tries = 0; tries < 5; tries++) {
      const answer = await post('/verify', { type: 'signup', token: wrong, email })
      assert.deepEqual(errorOf(answer), badDigits)
    }
    const right = await post('/verify', { type: 'signup', token: mail.code, email })
    assert.deepEqual(errorOf(right), badDigits)
    const codes = await query('select from one_time_tokens where relates_to = $1', [email])
    assert.equal(codes.length, 1)
    assert.equal((await post('/verify', { type: 'signup', token: mail.token })).status, 200)
  })

  await t.test('counts concurrent wrong guesses', async () => {
    const { email, mail } = await signUp()
    const wrong = Array.from(
      { length: 30 },
      (_, index) => `${(Number(mail.code) + 1 + index) % 1e6}`,
    )
    const guess = (token: string) =>
      post('/verify', { type: 'email', token: token.padStart(6, '0'), email })
    await Promise.all(wrong.map(guess))
    assert.deepEqual(errorOf(await guess(mail.code)), badDigits)
  })

  await t.test('runs the same statements whether or not the user exists', async () => {
    const { email } = await signUp()
    const statements = []
    for (const address of [email, newEmail()]) {
      server.takeStatements()
      const answer = await post('/verify', { type: 'email', token: 'abcdef', email: address })
      assert.deepEqual(errorOf(answer), badDigits)
      statements.push(server.takeStatements())
    }
    assert.deepEqual(statements[0], statements[1])
  })

  await t.test(
    'accepts a token only for its own type, and a code only with its address',
    async () => {
      const { email, mail } = await signUp()
      for (const type of ['recovery', 'magiclink', 'email_change']) {
        assert.deepEqual(errorOf(await post('/verify', { type, token: mail.token })), badLink)
        assert.deepEqual(
          errorOf(await post('/verify', { type, token: mail.code, email })),
          badDigits,
        )
      }
      const other = await signUp()
      const swapped = await post('/verify', { type: 'email', token: mail.code, email: other.email })
      assert.deepEqual(errorOf(swapped), badDigits)
      const audience = await post(
        '/verify',
        { type: 'signup', token: mail.code, email },
        { 'x-jwt-aud': 'another' },
      )
      assert.deepEqual(errorOf(audience), badDigits)
      // The address of the account has changed since the code was sent.
      await query('update users set email = $2 where email = $1', [email, newEmail()])
      assert.deepEqual(
        errorOf(await post('/verify', { type: 'signup', token: mail.token })),
        badLink,
      )
    },
  )

  await t.test(
    'a recovery link signs in, confirms the address and marks the new session',
    async () => {
      const { id, email } = await signUp()
      await post('/recover', { email })
      const mail = await mailTo(email)
      assert.equal(mail.kind, 'recovery')
      const { status, body } = await post('/verify', { type: 'recovery', token: mail.code, email })
      assert.equal(status, 200, JSON.stringify(body))
      assert.equal(body.type, 'recovery')
      assert.ok(body.user.email_confirmed_at)
      assert.deepEqual(await query('select is_recovery from sessions where user_id = $1', [id]), [
        { is_recovery: true },
      ])
      // The pending confirmation was removed as well.
      assert.deepEqual(await query('select 1 from one_time_tokens where user_id = $1', [id]), [])
      assert.equal((await server.actionsOf(id)).at(-1), 'user_signedup')
    },
  )

  await t.test('a magic link signs a known user in, which is logged as a login', async () => {
    const { id, email } = await server.newUser()
    await post('/magiclink', { email })
    const { token } = await mailTo(email)
    const { body } = await post('/verify', { type: 'magiclink', token_hash: token })
    assert.equal(body.type, 'magiclink')
    assert.equal((await server.actionsOf(id)).at(-1), 'login')
    assert.deepEqual(await query('select is_recovery from sessions where user_id = $1', [id]), [
      { is_recovery: false },
    ])
  })

  await t.test('refuses a banned user and does not use up the token', async () => {
    const { id, mail } = await signUp()
    await query(`update users set banned_until = now() + interval '10 years' where id = $1`, [id])
    const banned = await post('/verify', { type: 'signup', token: mail.token })
    assert.deepEqual(errorOf(banned), [403, 'user_banned', 'User is banned'])
    await query('update users set banned_until = null where id = $1', [id])
    assert.equal((await post('/verify', { type: 'signup', token: mail.token })).status, 200)
  })

  await t.test('requires a password to confirm the sign-up of a user without one', async () => {
    const { id, email, mail } = await signUp()
    await query('update users set encrypted_password = null where id = $1', [id])
    await query(`update one_time_tokens set claim = '{}' where user_id = $1`, [id])
    const verify = (more: object) => post('/verify', { type: 'signup', token: mail.token, ...more })
    assert.deepEqual(errorOf(await verify({})), [
      422,
      'validation_failed',
      'Signup verification requires a password',
    ])
    const weak = await verify({ password: 'abc' })
    assert.deepEqual([weak.status, weak.body.weak_password], [422, { reasons: ['length'] }])
    const chosen = 'chosen at last'
    assert.equal((await verify({ password: chosen })).status, 200)
    const login = await post('/token?grant_type=password', { email, password: chosen })
    assert.equal(login.status, 200)
  })

  await t.test('does not change an existing password', async () => {
    const { email, mail } = await signUp()
    const body = { type: 'signup', token: mail.token, password: 'another one' }
    assert.equal((await post('/verify', body)).status, 200)
    assert.equal((await post('/token?grant_type=password', { email, password })).status, 200)
  })

  await t.test(
    'sets a random password for an invited user, unless the request has one',
    async () => {
      for (const chosen of [undefined, 'chosen by the invited']) {
        const { id, email, mail } = await signUp()
        await query(
          'update users set encrypted_password = null, invited_at = now() where id = $1',
          [id],
        )
        await query(`update one_time_tokens set claim = '{}' where user_id = $1`, [id])
        const { status, body } = await post('/verify', {
          type: 'invite',
          token: mail.token,
          ...(chosen && { password: chosen }),
        })
        assert.equal(status, 200, JSON.stringify(body))
        assert.equal(body.type, 'invite')
        const [user] = await query('select encrypted_password from users where email = $1', [email])
        assert.match(user.encrypted_password, /^\$2b\$10\$/)
        const login = await post('/token?grant_type=password', {
          email,
          password: chosen ?? password,
        })
        assert.equal(login.status, chosen === undefined ? 400 : 200, JSON.stringify(login.body))
      }
    },
  )

  await t.test('reports invalid requests', async () => {
    const email = 'a@example.com'
    const cases: readonly (readonly [object, number, string])[] = [
      [{ token: 'x' }, 400, 'Verify requires a verification type'],
      [{ type: 'signup' }, 400, 'Verify requires either a token or a token hash'],
      [
        { type: 'signup', token: 'x', token_hash: 'y' },
        400,
        'Verify requires either a token or a token hash',
      ],
      [
        { type: 'signup', token_hash: 'y', email },
        400,
        'Only the token_hash and type should be provided',
      ],
      [
        { type: 'signup', token_hash: 'y', redirect_to: 'https://site.example' },
        400,
        'Only the token_hash and type should be provided',
      ],
      [
        { type: 'signup', token: 'x', email, phone: '123456' },
        400,
        'Only an email address or phone number should be provided on verify',
      ],
      [{ type: 'signup', token: 'x', email: 'not-an-address' }, 422, 'Invalid email format'],
      [{ type: 'other', token: 'x' }, 400, 'Invalid email verification type'],
      [{ type: 'other', token: 'x', email }, 400, 'Unsupported verification type'],
      [
        { type: 'sms', token: 'x', phone: 'none' },
        400,
        'Invalid phone number format (E.164 required)',
      ],
      [
        { type: 'email', token: 'x', email, redirect_to: 'https://evil.example' },
        400,
        'redirect_to is not permitted',
      ],
    ]
    for (const [body, status, message] of cases) {
      const expected = [status, 'validation_failed', message]
      assert.deepEqual(errorOf(await post('/verify', body)), expected, JSON.stringify(body))
    }
    const phone = await post('/verify', { type: 'sms', token: '123456', phone: '+491701234567' })
    assert.deepEqual(errorOf(phone), badDigits)
    const unknown = await post('/verify', { type: 'signup', token: '\u0000' })
    assert.deepEqual(errorOf(unknown), badLink)
  })

  await t.test('a concurrent change of the user is not lost', async () => {
    for (const how of ['link', 'digits'] as const) {
      const { id, email } = await server.newUser()
      await post('/magiclink', { email })
      const mail = await server.mailTo(email)
      const token = how === 'link' ? { token: mail.token } : { token: mail.code, email }
      const verify = () => post('/verify', { type: 'magiclink', ...token })
      const answer: HttpAnswer = await server.whileChanged(id, verify)
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
      assert.equal(answer.body.user.user_metadata.changed, true)
    }
  })

  await t.test('does not deadlock with refreshes and new messages', async () => {
    const { email } = await server.newUser()
    const login = await post('/token?grant_type=password', { email, password })
    let refreshToken = login.body.refresh_token
    for (let round = 0; round < 5; round++) {
      server.clock.aheadMs += 61_000
      await post('/magiclink', { email })
      const { token } = await mailTo(email)
      server.clock.aheadMs += 61_000
      const [refreshed, verified, resent] = await Promise.all([
        post('/token?grant_type=refresh_token', { refresh_token: refreshToken }),
        post('/verify', { type: 'magiclink', token }),
        post('/magiclink', { email }),
      ])
      assert.equal(refreshed.status, 200, JSON.stringify(refreshed.body))
      assert.ok([200, 403].includes(verified.status), JSON.stringify(verified.body))
      assert.equal(resent.status, 200, JSON.stringify(resent.body))
      refreshToken = refreshed.body.refresh_token
    }
    assert.deepEqual(
      server.log.filter((line) => /request \S+ failed/.test(line)),
      [],
    )
  })
})

test('POST /verify is rate limited by client address', async (t) => {
  const server = await openFlowServer(t, { AUTH_RATE_LIMIT_VERIFY: '2' })
  if (!server) return
  const verify = () => server.post('/verify', { type: 'signup', token: 'x' })
  await verify()
  await verify()
  const answer = await verify()
  assert.deepEqual(errorOf(answer), [429, 'over_request_rate_limit', 'Request rate limit reached'])
  assert.ok(Number(answer.headers.get('retry-after')) > 0)
})
