/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dataOf, errorOf, openClientServer } from '../support/auth-js.ts'
import { password } from '../support/http-client.ts'
import { openPhoneInbox } from '../support/phone-inbox.ts'
import { newPhone, toWrongCode } from '../support/phone-server.ts'

test('phone numbers with the real client', async (t) => {
  const inbox = await openPhoneInbox(t)
  const server = await openClientServer(t, {
    ...inbox.env,
    AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
    AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_REAUTHENTICATION: 'true',
  })
  if (!server) return
  const { createClient, admin } = server

  await t.test('signUp, verifyOtp of type sms, signInWithPassword', async () => {
    const client = createClient()
    const phone = newPhone()
    const options = { data: { plan: 'free' }, channel: 'sms' } as const
    const made = dataOf(await client.signUp({ phone: `+${phone}`, password, options }))
    assert.deepEqual([made.user?.phone, made.session], [phone, null])
    assert.ok(made.user?.confirmation_sent_at)
    const early = await client.signInWithPassword({ phone, password })
    assert.deepEqual(errorOf(early), ['phone_not_confirmed', 400, 'Phone not confirmed'])
    const { code } = await inbox.readNext(phone)
    const wrong = await client.verifyOtp({ phone, token: toWrongCode(code), type: 'sms' })
    assert.deepEqual(errorOf(wrong), ['otp_expired', 403, 'Token has expired or is invalid'])
    const verified = dataOf(
      await client.verifyOtp({ phone: `+${phone}`, token: code, type: 'sms' }),
    )
    assert.equal(verified.user?.id, made.user?.id)
    assert.ok(verified.session?.access_token && verified.user?.phone_confirmed_at)
    const another = createClient()
    const entered = dataOf(await another.signInWithPassword({ phone: `+${phone}`, password }))
    assert.equal(entered.user.id, made.user?.id)
    assert.equal(entered.user.user_metadata['plan'], 'free')
    const refused = await another.signInWithPassword({ phone, password: 'wrong password' })
    assert.deepEqual(errorOf(refused), ['invalid_credentials', 400, 'Invalid login credentials'])
  })

  await t.test('resend of type sms', async () => {
    const client = createClient()
    const phone = newPhone()
    dataOf(await client.signUp({ phone, password }))
    await inbox.readNext(phone)
    dataOf(await client.resend({ type: 'sms', phone }))
    const { code } = await inbox.readNext(phone)
    const { session } = dataOf(await client.verifyOtp({ phone, token: code, type: 'sms' }))
    assert.equal(session?.user.phone, phone)
  })

  for (const flowType of ['implicit', 'pkce'] as const) {
    await t.test(
      `signInWithOtp works for both new and known users, in the ${flowType} flow`,
      async () => {
        const client = createClient({ flowType })
        const phone = newPhone()
        const requested = dataOf(
          await client.signInWithOtp({ phone, options: { channel: 'whatsapp' } }),
        )
        assert.deepEqual([requested.user, requested.session], [null, null])
        const first = await inbox.readNext(phone)
        assert.equal(first.channel, 'whatsapp')
        const made = dataOf(await client.verifyOtp({ phone, token: first.code, type: 'sms' }))
        const options = { shouldCreateUser: false }
        dataOf(await client.signInWithOtp({ phone, options }))
        const { code } = await inbox.readNext(phone)
        const known = dataOf(await client.verifyOtp({ phone, token: code, type: 'sms' }))
        assert.equal(known.user?.id, made.user?.id)
        const unknown = await client.signInWithOtp({ phone: newPhone(), options })
        assert.deepEqual(errorOf(unknown), ['otp_disabled', 422, 'Signups not allowed for otp'])
      },
    )
  }

  await t.test('updateUser, verifyOtp and resend of type phone_change', async () => {
    const [before, after] = [newPhone(), newPhone()]
    await admin.createUser({ phone: before, password, phone_confirm: true })
    const client = createClient()
    dataOf(await client.signInWithPassword({ phone: before, password }))
    const { user } = dataOf(await client.updateUser({ phone: `+${after}` }))
    assert.deepEqual([user.phone, user.new_phone], [before, after])
    await inbox.readNext(after)
    dataOf(await client.resend({ type: 'phone_change', phone: before }))
    const { code } = await inbox.readNext(after)
    const options = { phone: after, token: code, type: 'phone_change' } as const
    assert.equal(dataOf(await client.verifyOtp(options)).user?.phone, after)
    assert.equal(dataOf(await client.getUser()).user.phone, after)
    const taken = newPhone()
    await admin.createUser({ phone: taken })
    assert.equal((await client.updateUser({ phone: taken })).error?.code, 'phone_exists')
  })

  await t.test('reauthenticate by phone', async () => {
    const phone = newPhone()
    await admin.createUser({ phone, password, phone_confirm: true })
    const client = createClient()
    dataOf(await client.signInWithPassword({ phone, password }))
    assert.equal((await client.reauthenticate()).error, null)
    const { code: nonce } = await inbox.readNext(phone)
    const fresh = 'another good password'
    dataOf(await client.updateUser({ password: fresh, nonce }))
    dataOf(await createClient().signInWithPassword({ phone, password: fresh }))
  })

  await t.test('an anonymous user who adds a phone number keeps the account', async () => {
    const client = createClient()
    const { user: anonymous } = dataOf(await client.signInAnonymously())
    const phone = newPhone()
    dataOf(await client.updateUser({ phone }))
    const { code } = await inbox.readNext(phone)
    const options = { phone, token: code, type: 'phone_change' } as const
    const { user } = dataOf(await client.verifyOtp(options))
    assert.deepEqual([user?.id, user?.is_anonymous], [anonymous?.id, false])
    assert.equal(dataOf(await client.getUserIdentities()).identities[0]?.provider, 'phone')
  })

  await t.test('error codes that applications check', async () => {
    const client = createClient()
    const invalid = await client.signUp({ phone: 'not a number', password })
    assert.deepEqual(errorOf(invalid), [
      'validation_failed',
      400,
      'Invalid phone number format (E.164 required)',
    ])
  })
})
