/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { hash as hashArgon2 } from '@node-rs/argon2'
import { hash as hashBcrypt } from '@node-rs/bcrypt'
import { errorOf, openFlowServer } from '../../support/flow-server.ts'
import { newEmail, password, type RequestOptions, sdk, send } from '../../support/http-client.ts'

const notFound = [404, 'user_not_found', 'User not found']
const notUuid = [404, 'validation_failed', 'user_id must be an UUID']
const emailTaken = [
  422,
  'email_exists',
  'A user with this email address has already been registered',
]
const phoneTaken = [422, 'phone_exists', 'Phone number already registered by another user']

test('administration of users', async (t) => {
  const server = await openFlowServer(t, {
    AUTH_PASSWORD_HASH: 'bcrypt',
    AUTH_JWT_AUD: 'authenticated',
    AUTH_JWT_DEFAULT_GROUP_NAME: 'authenticated',
  })
  if (!server) return
  const { url, query, post, serviceToken: token } = server
  const admin = (path: string, options: RequestOptions = {}) =>
    send(url, path, { token, ...options })
  const create = (body: unknown, path = '/admin/users') => admin(path, { body })
  const update = (id: string, body: unknown) => admin(`/admin/users/${id}`, { method: 'PUT', body })
  const signIn = (email: string, secret = password) =>
    post('/token?grant_type=password', { email, password: secret })
  let phones = 15_550_000
  const newPhone = () => `${++phones}`

  await t.test('creates a user in one statement and sends nothing', async () => {
    const email = newEmail()
    server.takeStatements()
    const { status, body } = await create({
      email,
      phone: `+${newPhone()}`,
      password,
      user_metadata: { name: 'A' },
      app_metadata: { plan: 'b' },
      role: 'editor',
    })
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual(server.takeStatements(), ['create_user'])
    assert.equal(body.email, email)
    assert.equal(body.phone, `${phones}`)
    assert.deepEqual([body.role, body.aud], ['editor', 'authenticated'])
    assert.deepEqual(body.user_metadata, { name: 'A' })
    assert.deepEqual(body.app_metadata, {
      provider: 'email',
      providers: ['email', 'phone'],
      plan: 'b',
    })
    assert.equal(body.email_confirmed_at, undefined)
    assert.equal(body.phone_confirmed_at, undefined)
    assert.equal(body.identities.length, 2)
    assert.equal((await server.mailsTo(email)).length, 0)
    const shown = await admin(`/admin/users/${body.id}`)
    assert.deepEqual(shown.body, body)
    assert.equal((await signIn(email)).body.error_code, 'email_not_confirmed')
    const [entry] = await query(
      "select payload from audit_log_entries where payload #>> '{traits,user_id}' = $1",
      [body.id],
    )
    assert.equal(entry.payload.action, 'user_signedup')
    assert.equal(entry.payload.actor_username, 'service_role')
    assert.deepEqual(entry.payload.traits, {
      user_id: body.id,
      user_email: email,
      user_phone: body.phone,
    })
  })

  await t.test('identities created at the same time are ordered by provider', async () => {
    for (let times = 0; times < 8; times += 1) {
      const { body } = await create({ email: newEmail(), phone: newPhone() })
      const providers = body.identities.map(({ provider }: { provider: string }) => provider)
      assert.deepEqual(providers, body.app_metadata.providers)
    }
  })

  await t.test('creates a confirmed user who can sign in', async () => {
    const email = newEmail()
    const { body } = await create({ email, password, email_confirm: true })
    assert.ok(body.email_confirmed_at)
    assert.equal(body.role, 'authenticated')
    assert.equal(body.identities[0].identity_data.email_verified, true)
    assert.equal((await signIn(email)).status, 200)
  })

  await t.test('takes the id from the path or the body, and each id only once', async () => {
    const [inPath, inBody] = [randomUUID(), randomUUID()]
    const byPath = await create(
      { email: newEmail(), id: randomUUID() },
      `/admin/users/${inPath.toUpperCase()}`,
    )
    assert.equal(byPath.body.id, inPath)
    const byBody = await create({ email: newEmail(), id: inBody })
    assert.equal(byBody.body.id, inBody)
    const twice = await create({ email: newEmail(), id: inBody })
    assert.deepEqual([twice.status, twice.body.error_code], [422, 'user_already_exists'])
    const nil = '00000000-0000-0000-0000-000000000000'
    assert.deepEqual(errorOf(await create({ email: newEmail(), id: nil })), [
      400,
      'validation_failed',
      'ID cannot be a nil uuid',
    ])
    assert.deepEqual(errorOf(await create({ email: newEmail() }, '/admin/users/7')), [
      400,
      'validation_failed',
      'ID must conform to the uuid v4 format',
    ])
  })

  await t.test('refuses missing, taken and malformed values', async () => {
    const [email, phone] = [newEmail(), newPhone()]
    await create({ email, phone })
    assert.deepEqual(errorOf(await create({ email: email.toUpperCase() })), emailTaken)
    assert.deepEqual(errorOf(await create({ phone })), phoneTaken)
    const cases = [
      [{}, 'Cannot create a user without either an email or phone'],
      [{ email: 'x' }, 'Unable to validate email address: invalid format'],
      [{ phone: 'x' }, 'Invalid phone number format (E.164 required)'],
      [
        { email: newEmail(), password, password_hash: '$2b$10$x' },
        'Only a password or a password hash should be provided',
      ],
      [
        { email: newEmail(), password: 'x'.repeat(73) },
        'Password cannot be longer than 72 characters',
      ],
      [
        { email: newEmail(), ban_duration: 'soon' },
        'invalid format for ban duration: "soon" is not a duration such as 24h or 1h30m',
      ],
      [{ email: newEmail(), role: '\0' }, 'The role has a character that cannot be stored'],
      [{ email: newEmail(), aud: '\0' }, 'The aud has a character that cannot be stored'],
      [
        { email: newEmail(), app_metadata: { a: '\0' } },
        'The metadata has a character that cannot be stored',
      ],
    ] as const
    for (const [body, message] of cases) {
      assert.deepEqual(errorOf(await create(body)), [400, 'validation_failed', message])
    }
    const hash = await create({ email: newEmail(), password_hash: 'md5' })
    assert.deepEqual([hash.status, hash.body.error_code], [400, 'validation_failed'])
    assert.match(hash.body.msg, /^password_hash must be bcrypt/)
    const typed = await create({ email: newEmail(), email_confirm: 'yes' })
    assert.deepEqual([typed.status, typed.body.error_code], [400, 'bad_json'])
  })

  await t.test('only one of several concurrent creations of an address succeeds', async () => {
    const email = newEmail()
    const answers = await Promise.all(Array.from({ length: 6 }, () => create({ email })))
    const statuses = answers.map(({ status }) => status).toSorted()
    assert.deepEqual(statuses, [200, 422, 422, 422, 422, 422])
  })

  await t.test('a user created without a password gets a random one', async () => {
    const email = newEmail()
    const { body } = await create({ email, email_confirm: true })
    const [row] = await query('select encrypted_password from users where id = $1', [body.id])
    assert.match(row.encrypted_password, /^\$2b\$10\$.{53}$/)
    for (const secret of ['', 'x']) {
      assert.equal((await signIn(email, secret)).body.error_code, 'invalid_credentials')
    }
  })

  await t.test(
    'imports bcrypt, argon2 and Firebase hashes, and rehashes them at sign-in',
    async () => {
      const hashes = [
        await hashBcrypt(password, { cost: 4 }),
        await hashArgon2(password, { memoryCost: 64, timeCost: 1, parallelism: 1 }),
      ]
      for (const password_hash of hashes) {
        const email = newEmail()
        const { status, body } = await create({ email, password_hash, email_confirm: true })
        assert.equal(status, 200, JSON.stringify(body))
        assert.equal((await signIn(email, 'wrong')).body.error_code, 'invalid_credentials')
        assert.equal((await signIn(email)).status, 200)
        const [row] = await query('select encrypted_password from users where id = $1', [body.id])
        assert.match(row.encrypted_password, /^\$2[aby]\$10\$/)
        assert.equal((await signIn(email)).status, 200)
      }
      // This is the example in the documentation of Firebase scrypt.
      const firebase =
        '$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==' +
        '$42xEC+ixf3L2lw==$lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ=='
      const email = newEmail()
      await create({ email, password_hash: firebase, email_confirm: true })
      assert.equal((await signIn(email, 'user1password')).status, 200)
    },
  )

  await t.test('updates a user at once, in two statements, and sends nothing', async () => {
    const { body: user } = await create({ email: newEmail(), user_metadata: { a: 1, b: 2 } })
    const email = newEmail()
    server.takeStatements()
    const { status, body } = await update(user.id, {
      email,
      email_confirm: true,
      phone: newPhone(),
      role: 'editor',
      user_metadata: { a: null, c: 3 },
      app_metadata: { plan: 'x' },
    })
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual(server.takeStatements(), ['find_user_by_id', 'update_user'])
    assert.deepEqual([body.email, body.role, body.id], [email, 'editor', user.id])
    assert.ok(body.email_confirmed_at)
    assert.equal(body.phone_confirmed_at, undefined)
    assert.deepEqual(body.user_metadata, { b: 2, c: 3, email_verified: true })
    assert.deepEqual(body.app_metadata, {
      provider: 'email',
      providers: ['email', 'phone'],
      plan: 'x',
    })
    const [first, second] = body.identities
    assert.deepEqual([first.email, first.identity_data.email_verified], [email, true])
    assert.deepEqual([second.provider, second.identity_data.phone_verified], ['phone', false])
    assert.deepEqual((await admin(`/admin/users/${user.id}`)).body, body)
    assert.equal((await server.mailsTo(email)).length, 0)
    const nothing = await update(user.id, { id: randomUUID(), aud: 'x', email_confirm: false })
    assert.deepEqual([nothing.body.id, nothing.body.aud], [user.id, 'authenticated'])
    assert.equal(nothing.body.email_confirmed_at, body.email_confirmed_at)
  })

  await t.test(
    'a confirmed address is marked in the metadata, an unconfirmed one is not',
    async () => {
      const metadata = { name: 'A' }
      const made = async (more: object) =>
        (await create({ email: newEmail(), user_metadata: metadata, ...more })).body.user_metadata
      assert.deepEqual(await made({ email_confirm: true }), { ...metadata, email_verified: true })
      assert.deepEqual(await made({}), metadata)
      const { body: user } = await create({ email: newEmail(), user_metadata: metadata })
      const { body } = await update(user.id, { email_confirm: true })
      assert.deepEqual(body.user_metadata, { ...metadata, email_verified: true })
      const { body: other } = await create({ phone: newPhone(), phone_confirm: true })
      assert.deepEqual(other.user_metadata, {})
    },
  )

  await t.test('confirming an address updates email_verified everywhere', async () => {
    const email = newEmail()
    const { body: user } = await post('/signup', { email, password })
    const { body } = await update(user.id, { email_confirm: true })
    assert.ok(body.email_confirmed_at)
    assert.equal(body.user_metadata.email_verified, true)
    assert.equal(body.identities[0].identity_data.email_verified, true)
    assert.equal((await signIn(email)).status, 200)
  })

  await t.test(
    'a new address is copied to the metadata and invalidates tokens for the old address',
    async () => {
      const { id, email: before } = await server.newUser()
      await post('/recover', { email: before })
      const { token: recovery } = await server.mailTo(before)
      const email = newEmail()
      const { body } = await update(id, { email })
      assert.equal(body.user_metadata.email, email)
      assert.equal(body.user_metadata.email_verified, false)
      const late = await post('/verify', { type: 'recovery', token: recovery })
      assert.equal(late.body.error_code, 'otp_expired')
      assert.equal((await signIn(before)).body.error_code, 'invalid_credentials')
      assert.equal((await signIn(email)).status, 200)
    },
  )

  await t.test('a new password must be strong and ends all sessions', async () => {
    const { id, email } = await server.newUser()
    const { body: session } = await signIn(email)
    assert.equal((await update(id, { password: 'abc' })).body.error_code, 'weak_password')
    assert.equal((await update(id, { password: 'another password' })).status, 200)
    const refreshed = await post('/token?grant_type=refresh_token', {
      refresh_token: session.refresh_token,
    })
    assert.equal(refreshed.body.error_code, 'session_not_found')
    assert.equal((await signIn(email, 'another password')).status, 200)
  })

  await t.test('an update to a taken address or phone number fails like a creation', async () => {
    const [one, other] = [
      await create({ email: newEmail(), phone: newPhone() }),
      await create({ email: newEmail(), phone: newPhone() }),
    ]
    assert.deepEqual(errorOf(await update(one.body.id, { email: other.body.email })), emailTaken)
    assert.deepEqual(errorOf(await update(one.body.id, { phone: other.body.phone })), phoneTaken)
    assert.deepEqual((await admin(`/admin/users/${one.body.id}`)).body, one.body)
  })

  await t.test('a ban keeps a user out until it ends', async (t) => {
    t.after(() => {
      server.clock.aheadMs = 0
    })
    const { id, email } = await server.newUser()
    const { body: session } = await signIn(email)
    const { body } = await update(id, { ban_duration: '1h30m' })
    assert.ok(Math.abs(Date.parse(body.banned_until) - server.clock.now() - 5_400_000) < 60_000)
    assert.equal((await signIn(email)).body.error_code, 'user_banned')
    const refresh = { refresh_token: session.refresh_token }
    const refused = await post('/token?grant_type=refresh_token', refresh)
    assert.equal(refused.body.error_code, 'user_banned')
    const { access_token } = session
    assert.deepEqual(errorOf(await send(url, '/user', { token: access_token })), [
      403,
      'user_banned',
      'User is banned',
    ])
    const other = await update(id, { user_metadata: { a: 1 } })
    assert.equal(other.body.banned_until, body.banned_until)
    const free = await update(id, { ban_duration: 'none' })
    assert.equal(free.body.banned_until, undefined)
    assert.equal((await signIn(email)).status, 200)
    await update(id, { ban_duration: '10m' })
    server.clock.aheadMs = 600_001
    assert.equal((await signIn(email)).status, 200)
    const early = await create({ email: newEmail(), ban_duration: '876600h' })
    assert.match(early.body.banned_until, /^2[12]\d\d-/)
  })

  await t.test('an administrator who is banned loses administrator access', async () => {
    const { id, email } = await server.newUser()
    await update(id, { role: 'service_role' })
    const { access_token } = (await signIn(email)).body
    const read = () => send(url, `/admin/users/${id}`, { token: access_token })
    assert.equal((await read()).status, 200)
    await update(id, { ban_duration: '1h' })
    assert.deepEqual(errorOf(await read()), [403, 'session_expired', 'Session is no longer valid'])
    await update(id, { ban_duration: 'none' })
    assert.equal((await read()).status, 200)
  })

  await t.test('an anonymous user whose address is confirmed becomes permanent', async () => {
    const { body: user } = await create({ email: newEmail() })
    await query('update users set is_anonymous = true where id = $1', [user.id])
    const unproven = await update(user.id, { email: newEmail() })
    assert.equal(unproven.body.is_anonymous, true)
    const proven = await update(user.id, { email_confirm: true })
    assert.equal(proven.body.is_anonymous, false)
  })

  await t.test('unknown and malformed ids are not found', async () => {
    const unknown = randomUUID()
    assert.deepEqual(errorOf(await admin(`/admin/users/${unknown}`)), notFound)
    assert.deepEqual(errorOf(await update(unknown, {})), notFound)
    const gone = await admin(`/admin/users/${unknown}`, { method: 'DELETE' })
    assert.deepEqual(errorOf(gone), notFound)
    assert.deepEqual(errorOf(await admin('/admin/users/7')), notUuid)
    assert.deepEqual(errorOf(await update('7', {})), notUuid)
    const malformed = await admin('/admin/users/7', { method: 'DELETE', headers: sdk })
    assert.deepEqual([malformed.status, malformed.body.code], [404, 'validation_failed'])
  })

  await t.test('users cannot call admin endpoints, whatever their metadata claims', async () => {
    const { id, email } = await server.newUser()
    await query(
      `update users set raw_user_meta_data = '{"role": "service_role"}',
         raw_app_meta_data = '{"role": "service_role"}' where id = $1`,
      [id],
    )
    const { body: session } = await signIn(email)
    const requests = [
      ['GET', '/admin/users'],
      ['POST', '/admin/users', { email: newEmail() }],
      ['POST', `/admin/users/${randomUUID()}`, { email: newEmail() }],
      ['GET', `/admin/users/${id}`],
      ['PUT', `/admin/users/${id}`, { role: 'service_role' }],
      ['DELETE', `/admin/users/${id}`],
      ['POST', '/admin/generate_link', { type: 'recovery', email }],
      ['GET', '/admin/audit'],
      ['GET', '/admin/events'],
      ['POST', '/invite', { email: newEmail() }],
    ] as const
    for (const [method, path, body] of requests) {
      const asUser = await send(url, path, { method, token: session.access_token, body })
      assert.deepEqual(errorOf(asUser), [403, 'not_admin', 'User not allowed'], path)
      const anonymous = await send(url, path, { method, body })
      assert.equal(anonymous.status, 401, path)
    }
    assert.equal((await admin(`/admin/users/${id}`)).body.role, 'authenticated')
    // A role assigned by an administrator takes effect at the next sign-in.
    await update(id, { role: 'supabase_admin' })
    const { body: promoted } = await signIn(email)
    assert.equal((await send(url, '/admin/users', { token: promoted.access_token })).status, 200)
    await send(url, '/logout', { method: 'POST', token: promoted.access_token })
    assert.deepEqual(errorOf(await send(url, '/admin/users', { token: promoted.access_token })), [
      403,
      'session_expired',
      'Session is no longer valid',
    ])
  })
})
