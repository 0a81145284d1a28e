/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { type ExternalServer, newAccount, openExternalServer } from '../support/external-server.ts'
import { fragmentOf } from '../support/flow-server.ts'
import { newEmail, password, sdk, send } from '../support/http-client.ts'
import { newPhone, phoneEnvironment } from '../support/phone-server.ts'

/** An email address or a phone number. */
type Name = { readonly email: string } | { readonly phone: string }

const ofAttacker = { note: 'from the attacker' }
const ofOwner = { color: 'blue' }
const ownerPassword = 'chosen by the owner'

/** Email, phone and a provider are enabled, to cover every way to sign in. */
const openServer = (t: TestContext) => openExternalServer(t, ['keycloak'], phoneEnvironment)

/**
 * An attacker registers the address of another person and adds everything possible to the account.
 */
async function registerAttacker(server: ExternalServer, name: Name) {
  const { body: made } = await server.post('/signup', { ...name, password, data: ofAttacker })
  const column = 'email' in name ? 'email_confirmed_at' : 'phone_confirmed_at'
  // In the worst case the attacker already has a session, an identity and a factor.
  await server.query(`update users set ${column} = now() where id = $1`, [made.id])
  const { body: session } = await server.post('/token?grant_type=password', { ...name, password })
  await server.query(`update users set ${column} = null where id = $1`, [made.id])
  await server.query(
    `insert into identities (id, user_id, provider, provider_id, identity_data)
     values ($1, $2::uuid, 'github', $2::uuid::text, '{}')`,
    [randomUUID(), made.id],
  )
  await server.query(
    `insert into mfa_factors (id, user_id, factor_type, status) values ($1, $2, 'totp', 'verified')`,
    [randomUUID(), made.id],
  )
  await server.query('delete from message_gaps')
  return { id: made.id as string, session }
}

interface OwnerSignIn {
  /**
   * Proves that the owner controls the address.
   * @returns the access token of the owner.
   */
  signIn(server: ExternalServer, name: Name & Record<string, string>): Promise<string>
  /** The password that works afterwards; undefined if none does. */
  readonly password?: string
  /** The metadata set by the owner or an administrator. */
  readonly data?: Readonly<Record<string, string>>
  readonly provider?: string
}

async function codeTo(server: ExternalServer, phone: string): Promise<string> {
  await server.untilAnswered()
  const sql = 'select payload from outbox where recipient = $1 order by id desc limit 1'
  return (await server.query(sql, [phone]))[0].payload.Code
}

async function verify(server: ExternalServer, proof: object): Promise<string> {
  const { status, body } = await server.post('/verify', proof)
  assert.equal(status, 200, JSON.stringify(body))
  return body.access_token
}

/** Requests a message and follows its link. */
function byMail(path: string, body: object, type: string, headers: Record<string, string> = {}) {
  return async (server: ExternalServer, { email = '' }: Record<string, string>) => {
    const requested = await server.post(path, { email, ...body }, headers)
    assert.equal(requested.status, 200, JSON.stringify(requested.body))
    return verify(server, { type, token: (await server.mailTo(email)).token })
  }
}

/** Requests a text message and sends its code. */
function byText(path: string, body: object) {
  return async (server: ExternalServer, { phone = '' }: Record<string, string>) => {
    const requested = await server.post(path, { phone, ...body })
    assert.equal(requested.status, 200, JSON.stringify(requested.body))
    return verify(server, { type: 'sms', phone, token: await codeTo(server, phone) })
  }
}

const asAdmin = (server: ExternalServer) => ({
  authorization: `Bearer ${server.serviceToken}`,
})

function byAdminLink(type: string, body: object = {}) {
  return async (server: ExternalServer, { email = '' }: Record<string, string>) => {
    const link = { type, email, ...body }
    const headers = { ...asAdmin(server), ...sdk }
    const { status, body: made } = await server.post('/admin/generate_link', link, headers)
    assert.equal(status, 200, JSON.stringify(made))
    return verify(server, { type: made.verification_type, token: made.hashed_token })
  }
}

const byEmail: Readonly<Record<string, OwnerSignIn>> = {
  'POST /signup': {
    signIn: byMail('/signup', { password: ownerPassword, data: ofOwner }, 'signup'),
    password: ownerPassword,
    data: ofOwner,
  },
  'POST /signup, answered by a link': {
    async signIn(server, { email = '' }) {
      await server.post('/signup', { email, password: ownerPassword, data: ofOwner })
      const followed = await send(server.url, (await server.mailTo(email)).path)
      return fragmentOf(followed)['access_token'] ?? ''
    },
    password: ownerPassword,
    data: ofOwner,
  },
  'POST /signup, after the attacker requested a magic link': {
    async signIn(server, name) {
      await server.post('/otp', { ...name, data: ofAttacker })
      return byMail('/signup', { password: ownerPassword }, 'signup')(server, name)
    },
    password: ownerPassword,
  },
  'POST /otp': { signIn: byMail('/otp', { data: ofOwner }, 'magiclink'), data: ofOwner },
  'POST /otp of the client': {
    signIn: byMail('/otp', { data: ofOwner }, 'signup', sdk),
    data: ofOwner,
  },
  'POST /otp, and the attacker requests another message': {
    async signIn(server, { email = '' }) {
      await server.post('/otp', { email }, sdk)
      return byMail('/resend', { type: 'signup' }, 'signup')(server, { email })
    },
  },
  'POST /magiclink': {
    signIn: byMail('/magiclink', { data: ofOwner }, 'magiclink'),
    data: ofOwner,
  },
  'POST /recover': { signIn: byMail('/recover', {}, 'recovery') },
  'POST /resend': { signIn: byMail('/resend', { type: 'signup' }, 'signup') },
  'POST /invite': {
    async signIn(server, { email = '' }) {
      await server.post('/invite', { email, data: ofOwner }, asAdmin(server))
      return verify(server, { type: 'invite', token: (await server.mailTo(email)).token })
    },
    data: ofOwner,
  },
  'POST /invite, answered with a password': {
    async signIn(server, { email = '' }) {
      await server.post('/invite', { email, data: ofOwner }, asAdmin(server))
      const { token } = await server.mailTo(email)
      return verify(server, { type: 'invite', token, password: ownerPassword })
    },
    password: ownerPassword,
    data: ofOwner,
  },
  'POST /invite, answered by a magic link': {
    async signIn(server, { email = '' }) {
      await server.post('/invite', { email, data: ofOwner }, asAdmin(server))
      return byMail('/otp', {}, 'magiclink')(server, { email })
    },
    data: ofOwner,
  },
  'a link for signup': {
    signIn: byAdminLink('signup', { password: ownerPassword, data: ofOwner }),
    password: ownerPassword,
    data: ofOwner,
  },
  'a link for invite': { signIn: byAdminLink('invite', { data: ofOwner }), data: ofOwner },
  'a link for magiclink': { signIn: byAdminLink('magiclink') },
  'a link for recovery': { signIn: byAdminLink('recovery') },
  'a provider that has verified the address': {
    async signIn(server, { email = '' }) {
      const answer = await server.signInWith('keycloak', newAccount({ email }))
      return fragmentOf(answer)['access_token'] ?? ''
    },
    provider: 'keycloak',
  },
}

const byPhone: Readonly<Record<string, OwnerSignIn>> = {
  'POST /signup': {
    signIn: byText('/signup', { password: ownerPassword, data: ofOwner }),
    password: ownerPassword,
    data: ofOwner,
  },
  'POST /otp': { signIn: byText('/otp', { data: ofOwner }), data: ofOwner },
  'POST /otp, and the attacker requests another message': {
    async signIn(server, { phone = '' }) {
      await server.post('/otp', { phone })
      await server.query('delete from message_gaps')
      return byText('/resend', { type: 'sms' })(server, { phone })
    },
  },
  'POST /resend': { signIn: byText('/resend', { type: 'sms' }) },
}

const channels = {
  email: { newName: () => ({ email: newEmail() }), ownerSignIns: byEmail },
  phone: { newName: () => ({ phone: newPhone() }), ownerSignIns: byPhone },
} as const

test('the person who proves to own an address or phone number owns the account (property 43)', async (t) => {
  const server = await openServer(t)
  if (!server) return
  const { post, query, url } = server
  for (const [channel, { newName, ownerSignIns }] of Object.entries(channels)) {
    for (const [way, { signIn, data, provider, ...expectation }] of Object.entries(ownerSignIns)) {
      await t.test(`${channel}: ${way} (properties 21 and 43)`, async () => {
        const name = newName()
        const { id, session } = await registerAttacker(server, name)
        const token = await signIn(server, name)
        const { body: owner } = await send(url, '/user', { token })
        assert.equal(owner.id, id)

        const { user_metadata: metadata, identities } = owner
        assert.equal(metadata.note, undefined, 'the metadata of the attacker')
        assert.equal(identities[0].identity_data.note, undefined, 'in the identity as well')
        assert.equal(metadata.color, data?.['color'], 'the metadata of the owner')

        const login = async (secret: string) =>
          (await post('/token?grant_type=password', { ...name, password: secret })).status
        assert.equal(await login(password), 400, 'the password of the attacker')
        const expected = expectation.password === undefined ? 400 : 200
        assert.equal(await login(ownerPassword), expected, 'the password of the owner')

        const { refresh_token, access_token: stale } = session
        const refreshed = await post('/token?grant_type=refresh_token', { refresh_token })
        assert.equal(refreshed.status, 400, 'the session of the attacker')
        const change = { method: 'PUT', token: stale, body: { data: {} } }
        assert.equal((await send(url, '/user', change)).body.error_code, 'session_not_found')

        const left = await query('select provider from identities where user_id = $1', [id])
        assert.deepEqual(left, [{ provider: provider ?? channel }])
        assert.deepEqual(owner.app_metadata.providers, [provider ?? channel])
        assert.deepEqual(await query('select from mfa_factors where user_id = $1', [id]), [])
        const [row] = await query('select admin_data from users where id = $1', [id])
        assert.equal(row.admin_data, null)
      })
    }
  }

  await t.test(
    'until then a repeated sign-up does not replace the password (property 43)',
    async () => {
      const name = { email: newEmail() }
      const { body: made } = await post('/signup', { ...name, password })
      const read = () => query('select encrypted_password from users where id = $1', [made.id])
      const before = await read()
      await query('delete from message_gaps')
      await post('/signup', { ...name, password: ownerPassword })
      assert.deepEqual(await read(), before)
    },
  )

  await t.test('data of the attacker is not in messages to the owner (property 43)', async () => {
    const name = { email: newEmail() }
    await post('/signup', { ...name, password, data: ofAttacker })
    for (const path of ['/recover', '/otp', '/resend', '/signup']) {
      await query('delete from message_gaps')
      await post(path, { ...name, password: ownerPassword, type: 'signup' })
      await server.untilAnswered()
      const sql = 'select payload from outbox where recipient = $1 order by id desc limit 1'
      const [{ payload }] = await query(sql, [name.email])
      assert.equal(payload.Data.note, undefined, path)
    }
  })

  await t.test('a link that leads to a PKCE code is the same proof (property 43)', async () => {
    const name = { email: newEmail() }
    await registerAttacker(server, name)
    const challenge = { code_challenge: 'c'.repeat(43), code_challenge_method: 'plain' }
    await post('/otp', { ...name, ...challenge })
    const followed = await send(url, (await server.mailTo(name.email)).path)
    assert.match(followed.headers.get('location') ?? '', /\?code=/)
    const login = await post('/token?grant_type=password', { ...name, password })
    assert.equal(login.body.error_code, 'invalid_credentials')
  })

  await t.test(
    'the owner also gets an account that the attacker created with a provider, without a password (property 43)',
    async () => {
      const name = { email: newEmail() }
      const { id } = await registerAttacker(server, name)
      await query(`delete from identities where user_id = $1 and provider = 'email'`, [id])
      await query('update users set encrypted_password = null where id = $1', [id])
      await byMail('/otp', {}, 'magiclink')(server, name)
      const [identity, ...others] = await query('select * from identities where user_id = $1', [id])
      assert.deepEqual([identity.provider, others.length], ['email', 0])
      assert.deepEqual([identity.identity_data.sub, identity.email], [id, name.email])
    },
  )
})

test('data set by the owner or an administrator is kept (property 43)', async (t) => {
  const server = await openServer(t)
  if (!server) return
  const { post, url } = server
  const login = (name: object, secret: string) =>
    post('/token?grant_type=password', { ...name, password: secret })

  await t.test('of a confirmed sign-up, by email and by phone', async () => {
    const email = newEmail()
    await post('/signup', { email, password, data: ofOwner })
    await verify(server, { type: 'signup', token: (await server.mailTo(email)).token })
    const phone = newPhone()
    await post('/signup', { phone, password, data: ofOwner })
    await verify(server, { type: 'sms', phone, token: await codeTo(server, phone) })
    for (const name of [{ email }, { phone }]) {
      const { status, body } = await login(name, password)
      assert.deepEqual([status, body.user.user_metadata.color], [200, 'blue'])
      const verified = `${Object.keys(name)[0]}_verified`
      assert.equal(body.user.user_metadata[verified], true)
    }
  })

  await t.test('of a user who confirms their address again', async () => {
    const { email } = await server.newUser()
    const { body: before } = await login({ email }, password)
    for (const [path, type] of [
      ['/otp', 'magiclink'],
      ['/recover', 'recovery'],
    ] as const) {
      await byMail(path, {}, type)(server, { email })
      assert.equal((await login({ email }, password)).status, 200)
    }
    const { refresh_token } = before
    assert.equal((await post('/token?grant_type=refresh_token', { refresh_token })).status, 200)
  })

  await t.test('of a user created by an administrator', async () => {
    const email = newEmail()
    const made = { email, password, user_metadata: ofOwner }
    await post('/admin/users', made, asAdmin(server))
    await byMail('/resend', { type: 'signup' }, 'signup')(server, { email })
    const { status, body } = await login({ email }, password)
    assert.deepEqual([status, body.user.user_metadata], [200, { ...ofOwner, email_verified: true }])
  })

  await t.test('of a sign-up whose metadata an administrator has extended', async () => {
    const email = newEmail()
    const { body: made } = await post('/signup', { email, password, data: { note: 'mine' } })
    const change = { user_metadata: { customer: '7' } }
    const headers = asAdmin(server)
    const put = { method: 'PUT', body: change, headers }
    const { status: changed } = await send(url, `/admin/users/${made.id}`, put)
    assert.equal(changed, 200)
    await verify(server, { type: 'signup', token: (await server.mailTo(email)).token })
    const { status, body } = await login({ email }, password)
    const { note, customer } = body.user.user_metadata
    assert.deepEqual([status, note, customer], [200, 'mine', '7'])
  })
})
