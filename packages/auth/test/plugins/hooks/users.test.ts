/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newAccount, openExternalServer } from '../../support/external-server.ts'
import { errorOf, queryOf } from '../../support/flow-server.ts'
import { hookSecret, openHookReceiver } from '../../support/hook-receiver.ts'
import { openHookedServer, rejection, toHookEnvironment } from '../../support/hooked-server.ts'
import { newEmail, password } from '../../support/http-client.ts'

test('the before and after user created hooks', async (t) => {
  const before = 'before-user-created'
  const after = 'after-user-created'
  const server = await openHookedServer(t, [before, after], {
    AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
    AUTH_EXTERNAL_PHONE_ENABLED: 'true',
    AUTH_RATE_LIMIT_ANONYMOUS_USERS: '1000',
    AUTH_SMS_TEST_OTP: '15550100001:123456,15550100002:123456',
  })
  if (!server) return
  const { post, query, withReply, payloadsOf, waitForCall } = server
  const admin = { authorization: `Bearer ${server.serviceToken}` }
  const ways: Readonly<Record<string, () => ReturnType<typeof post>>> = {
    'POST /signup': () => post('/signup', { email: newEmail(), password }),
    'POST /signup by phone': () => post('/signup', { phone: '15550100001', password }),
    'anonymous POST /signup': () => post('/signup', {}),
    'POST /otp': () => post('/otp', { email: newEmail() }),
    'POST /otp by phone': () => post('/otp', { phone: '15550100002' }),
    'POST /magiclink': () => post('/magiclink', { email: newEmail() }),
    'POST /invite': () => post('/invite', { email: newEmail() }, admin),
    'POST /admin/users': () => post('/admin/users', { email: newEmail() }, admin),
    'POST /admin/generate_link': () =>
      post('/admin/generate_link', { type: 'invite', email: newEmail() }, admin),
  }
  const countUsers = async () => (await query('select count(*)::int as n from users'))[0].n

  for (const [way, create] of Object.entries(ways)) {
    await t.test(`are called for ${way}`, async () => {
      const count = await countUsers()
      const refused = await withReply(before, () => rejection(422, 'Not from there'), create)
      assert.deepEqual(errorOf(refused), [422, 'unknown', 'Not from there'])
      assert.equal(await countUsers(), count)
      const made = await create()
      assert.equal(made.status, 200, JSON.stringify(made.body))
      assert.equal(await countUsers(), count + 1)
      const { user, metadata } = payloadsOf(before).at(-1)
      assert.deepEqual([metadata.name, metadata.ip_address], [before, '127.0.0.1'])
      const notice = await waitForCall(after, (body) => body.user.id === user.id)
      assert.equal(notice.metadata.ip_address, '127.0.0.1')
      const { created_at, updated_at, identities, ...shown } = notice.user
      const { last_sign_in_at, ...told_before } = shown
      const { created_at: _c, updated_at: _u, identities: _i, ...announced } = user
      assert.deepEqual(Object.keys(told_before).sort(), Object.keys(announced).sort())
      assert.deepEqual(
        [told_before.email, told_before.phone, told_before.user_metadata],
        [user.email, user.phone, user.user_metadata],
      )
    })
  }

  await t.test('are not called for existing users', async () => {
    const email = newEmail()
    await post('/signup', { email, password })
    await waitForCall(after, (body) => body.user.email === email)
    const count = payloadsOf(before).length
    await post('/signup', { email, password })
    await post('/otp', { email })
    assert.equal(payloadsOf(before).length, count)
    assert.equal(payloadsOf(after).filter(({ user }) => user.email === email).length, 1)
    const waiting = await query("select 1 from outbox where channel = 'hook' and failed_at is null")
    assert.ok(waiting.length <= 1)
  })

  await t.test('a failed after-user-created call is queued for a retry', async () => {
    const email = newEmail()
    await withReply(
      after,
      () => ({ status: 500 }),
      async () => {
        assert.equal((await post('/signup', { email, password })).status, 200)
        const { metadata } = await waitForCall(after, (body) => body.user.email === email)
        assert.match(metadata.uuid, /^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-8[\da-f]{3}-[\da-f]{12}$/)
        const [waiting] = await eventually(() =>
          query("select * from outbox where channel = 'hook' and last_error is not null"),
        )
        assert.equal(waiting.last_error, 'Unexpected status code returned from hook: 500')
        assert.equal(waiting.failed_at, null)
      },
    )
  })
})

test('the user created hooks are called once for users of an external provider', async (t) => {
  const receiver = await openHookReceiver(t, { secret: hookSecret })
  const names = ['before-user-created', 'after-user-created'] as const
  const server = await openExternalServer(t, ['keycloak'], toHookEnvironment(names, receiver.url))
  if (!server) return
  const askedOf = (name: string, email: string) =>
    receiver.requests.filter(({ body }) => body.metadata.name === name && body.user.email === email)
  const account = newAccount()
  receiver.reply = () => rejection(403, 'By invitation only')
  const refused = await server.signInWith('keycloak', account)
  assert.deepEqual(
    [queryOf(refused)['error_description'], queryOf(refused)['error_code']],
    ['By invitation only', 'unknown'],
  )
  assert.deepEqual(await server.query('select 1 from users where email = $1', [account.email]), [])
  receiver.reply = () => ({})
  await server.signInWith('keycloak', account)
  await server.signInWith('keycloak', account)
  const { body } = await receiver.waitFor((each) => each.body.metadata.name === names[1])
  assert.equal(body.user.identities[0].provider, 'keycloak')
  assert.equal(askedOf(names[0], account.email).length, 2)
  assert.equal(askedOf(names[1], account.email).length, 1)
})

/** Waits for rows that another part of the server inserts. */
async function eventually<Row>(look: () => Promise<readonly Row[]>): Promise<readonly Row[]> {
  for (;;) {
    const rows = await look()
    if (rows.length > 0) return rows
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
