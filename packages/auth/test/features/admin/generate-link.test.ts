/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorOf, openFlowServer } from '../../support/flow-server.ts'
import { ask, newEmail, password, sdk } from '../../support/http-client.ts'

test('POST /admin/generate_link', async (t) => {
  const server = await openFlowServer(t, {
    AUTH_PASSWORD_HASH: 'bcrypt',
    AUTH_DISABLE_SIGNUP: 'false',
    AUTH_RATE_LIMIT_EMAIL_SENT: '1000',
  })
  if (!server) return
  const { url, query, post, serviceToken: token } = server
  const generate = (body: object, headers = {}) =>
    ask(url, '/admin/generate_link', { token, body, headers })
  const messages = async () => (await query('select from outbox')).length

  await t.test('signs somebody up with the link or the code, and sends nothing', async () => {
    const email = newEmail()
    const before = await messages()
    server.takeStatements()
    const redirect_to = 'https://site.example/welcome'
    const data = { team: 'red' }
    const answer = { type: 'signup', email, password, data, redirect_to }
    const { status, body } = await generate(answer)
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual(server.takeStatements(), ['find_user_by_email', 'create_user'])
    assert.equal(await messages(), before)
    assert.equal(body.email, email)
    assert.deepEqual(body.user_metadata, data)
    assert.equal(body.verification_type, 'signup')
    assert.equal(body.redirect_to, redirect_to)
    assert.match(body.email_otp, /^\d{6}$/)
    assert.match(body.hashed_token, /^[\da-f]{56}$/)
    const link = new URL(body.action_link)
    assert.equal(`${link.origin}${link.pathname}`, 'https://auth.example/verify')
    assert.deepEqual(
      [...link.searchParams],
      [
        ['token', body.hashed_token],
        ['type', 'signup'],
        ['redirect_to', redirect_to],
      ],
    )
    const clicked = await ask(url, `${link.pathname}${link.search}`)
    assert.equal(clicked.status, 303)
    assert.match(clicked.headers.get('location') ?? '', /^https:\/\/site\.example\/welcome#access_/)
    const login = await post('/token?grant_type=password', { email, password })
    assert.equal(login.status, 200)
    assert.deepEqual(errorOf(await generate(answer)), [
      422,
      'email_exists',
      'A user with this email address has already been registered',
    ])
  })

  await t.test('a newer link takes the place of an older one, without waiting', async () => {
    const email = newEmail()
    const signup = { type: 'signup', email, password, data: { a: 1 } }
    const first = await generate(signup)
    server.takeStatements()
    const other = 'something else'
    const second = await generate({ ...signup, password: other, data: { b: 2 } })
    assert.deepEqual(server.takeStatements(), ['find_user_by_email', 'update_user'])
    assert.equal(second.body.id, first.body.id)
    assert.deepEqual(second.body.user_metadata, { a: 1, b: 2 })
    const old = await post('/verify', { type: 'signup', token: first.body.hashed_token })
    assert.equal(old.body.error_code, 'otp_expired')
    const { email_otp } = second.body
    const verified = await post('/verify', { type: 'signup', email, token: email_otp })
    assert.equal(verified.status, 200, JSON.stringify(verified.body))
    // The password is that of the link that was followed.
    const login = (secret: string) =>
      post('/token?grant_type=password', { email, password: secret })
    assert.equal((await login(password)).status, 400)
    assert.equal((await login(other)).status, 200)
  })

  await t.test('invites', async () => {
    const email = newEmail()
    const { body } = await generate({ type: 'invite', email, data: { a: 1 } })
    assert.ok(body.invited_at)
    assert.deepEqual(body.user_metadata, { a: 1 })
    assert.match(body.action_link, /&type=invite&/)
    assert.equal(body.redirect_to, 'https://site.example')
    const verified = await post('/verify', { type: 'invite', token_hash: body.hashed_token })
    assert.equal(verified.status, 200, JSON.stringify(verified.body))
    const again = await generate({ type: 'invite', email })
    assert.equal(again.body.error_code, 'email_exists')
  })

  await t.test('recovery and magic link for who is known', async () => {
    const { id, email } = await server.newUser()
    for (const type of ['recovery', 'magiclink']) {
      const { status, body } = await generate({ type, email })
      assert.equal(status, 200, JSON.stringify(body))
      assert.deepEqual([body.id, body.verification_type], [id, type])
      assert.ok(body.recovery_sent_at)
      assert.ok(body.action_link.includes(`&type=${type}&`))
      const verified = await post('/verify', { type, token: body.hashed_token })
      assert.equal(verified.status, 200, JSON.stringify(verified.body))
    }
    // No link of an administrator keeps the user from having one, nor does the user's keep theirs.
    assert.equal((await post('/recover', { email })).status, 200)
    assert.equal((await server.mailTo(email)).kind, 'recovery')
    assert.equal((await generate({ type: 'recovery', email })).status, 200)
    const actions = await query(
      "select payload ->> 'action' as a from audit_log_entries where payload #>> '{traits,user_id}' = $1",
      [id],
    )
    assert.deepEqual(new Set(actions.map(({ a }) => a)), new Set(['user_recovery_requested']))
  })

  await t.test('a magic link for who is unknown signs them up', async () => {
    const email = newEmail()
    const { body } = await generate({ type: 'magiclink', email })
    assert.equal(body.verification_type, 'signup')
    assert.match(body.action_link, /&type=signup&/)
    const [row] = await query('select encrypted_password from users where id = $1', [body.id])
    assert.match(row.encrypted_password, /^\$2b\$10\$/)
    const verified = await post('/verify', { type: 'signup', token: body.hashed_token })
    assert.equal(verified.status, 200, JSON.stringify(verified.body))
  })

  await t.test('a change of address by two links', async () => {
    const { id, email } = await server.newUser()
    const new_email = newEmail()
    const change = { email, new_email }
    const current = await generate({ ...change, type: 'email_change_current' })
    const next = await generate({ ...change, type: 'email_change_new' })
    assert.equal(current.status, 200, JSON.stringify(current.body))
    assert.equal(next.status, 200, JSON.stringify(next.body))
    assert.equal(next.body.new_email, new_email)
    assert.equal(next.body.verification_type, 'email_change_new')
    assert.match(next.body.action_link, /&type=email_change&/)
    const half = await post('/verify', { type: 'email_change', token: current.body.hashed_token })
    assert.match(half.body.msg, /^Confirmation link accepted/)
    const { email_otp } = next.body
    const whole = await post('/verify', {
      type: 'email_change',
      email: new_email,
      token: email_otp,
    })
    assert.equal(whole.body.user?.email, new_email, JSON.stringify(whole.body))
    assert.equal(whole.body.user.id, id)
  })

  await t.test('links to another new address end those to the one before', async () => {
    const { id, email } = await server.newUser()
    const [one, two] = [newEmail(), newEmail()]
    await generate({ type: 'email_change_current', email, new_email: one })
    const { body } = await generate({ type: 'email_change_new', email, new_email: two })
    assert.equal(body.new_email, two)
    const rows = await query('select token_type from one_time_tokens where user_id = $1', [id])
    assert.deepEqual(rows, [{ token_type: 'email_change_new' }])
  })

  await t.test('refuses what it cannot do', async () => {
    const unknown = newEmail()
    const { email: known } = await server.newUser()
    const { email: other } = await server.newUser()
    const notFound = [404, 'user_not_found', 'User with this email not found']
    const invalid = (message: string) => [400, 'validation_failed', message]
    const cases = [
      [{ type: 'recovery', email: unknown }, notFound],
      [{ type: 'email_change_new', email: unknown, new_email: newEmail() }, notFound],
      [{ type: 'sms', email: known }, invalid('Invalid email action link type requested: sms')],
      [{ email: known }, invalid('Invalid email action link type requested: ')],
      [{ type: 'toString' }, invalid('Invalid email action link type requested: toString')],
      [{ type: 'recovery' }, invalid('An email address is required')],
      [
        { type: 'recovery', email: 'x' },
        invalid('Unable to validate email address: invalid format'),
      ],
      [{ type: 'email_change_new', email: known }, invalid('An email address is required')],
      [{ type: 'signup', email: unknown }, invalid('Signup requires a valid password')],
      [
        { type: 'signup', email: unknown, password: 'abc' },
        [422, 'weak_password', 'Password should be at least 6 characters.'],
      ],
      [
        { type: 'email_change_new', email: known, new_email: other },
        [422, 'email_exists', 'A user with this email address has already been registered'],
      ],
      [
        { type: 'recovery', email: known, redirect_to: 'https://evil.example' },
        invalid('redirect_to is not permitted'),
      ],
      [
        { type: 'recovery', email: known, redirect_to: 'https://site.example/\0' },
        invalid('redirect_to is not permitted'),
      ],
    ] as const
    for (const [body, error] of cases) assert.deepEqual(errorOf(await generate(body)), error)
    assert.equal((await query('select from users where email = $1', [unknown])).length, 0)
    const evil = { type: 'recovery', email: known, redirect_to: 'https://evil.example' }
    const { body } = await generate(evil, sdk)
    assert.equal(body.redirect_to, 'https://site.example')
  })

  await t.test('links for one unknown address at the same time make one user', async () => {
    const email = newEmail()
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => generate({ type: 'magiclink', email })),
    )
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
    assert.equal(new Set(answers.map(({ body }) => body.id)).size, 1)
  })
})

test('a link for the current address needs the secure change of addresses', async (t) => {
  const server = await openFlowServer(t, {
    AUTH_MAILER_SECURE_EMAIL_CHANGE_ENABLED: 'false',
    AUTH_DISABLE_SIGNUP: 'true',
  })
  if (!server) return
  const { url, serviceToken: token } = server
  const generate = (body: object) => ask(url, '/admin/generate_link', { token, body })
  const email = newEmail()
  const signup = await generate({ type: 'signup', email, password })
  assert.equal(signup.status, 200)
  const new_email = newEmail()
  assert.deepEqual(errorOf(await generate({ type: 'email_change_current', email, new_email })), [
    400,
    'validation_failed',
    'Enable secure email change to generate link for current email',
  ])
  const { body } = await generate({ type: 'email_change_new', email, new_email })
  const changed = await server.post('/verify', {
    type: 'email_change',
    token_hash: body.hashed_token,
  })
  assert.equal(changed.body.msg, 'Confirmation link accepted. The email address has been changed')
  assert.equal((await server.query('select 1 from users where email = $1', [new_email])).length, 1)
})
