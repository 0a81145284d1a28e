/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { containsSecret } from '../../support/contains-secret.ts'
import { createFactorCalls, factorEnvironment } from '../../support/factors.ts'
import { openHookedServer, rejection } from '../../support/hooked-server.ts'
import { newEmail, password, send } from '../../support/http-client.ts'

test('the send email hook', async (t) => {
  const name = 'send-email'
  const server = await openHookedServer(t, [name], {
    AUTH_SMTP_HOST: '',
    AUTH_SMTP_MAX_FREQUENCY: '0s',
  })
  if (!server) return
  const { post, query, withReply, waitForCall, payloadsOf } = server
  const admin = { authorization: `Bearer ${server.serviceToken}` }
  const mailTo = (email: string, type: string) =>
    waitForCall(
      name,
      ({ user, email_data: data }) => user.email === email && data.email_action_type === type,
    )

  await t.test('receives the user and all data of the message', async () => {
    const email = newEmail()
    const { body: made } = await post('/signup', { email, password, data: { lang: 'fr' } })
    const { user, email_data: data, metadata } = await mailTo(email, 'signup')
    assert.equal(user.id, made.id)
    assert.equal(user.user_metadata.lang, 'fr')
    assert.equal(metadata.ip_address, '127.0.0.1')
    const { token, token_hash: hash, ...rest } = data
    assert.deepEqual(rest, {
      redirect_to: 'https://site.example',
      email_action_type: 'signup',
      site_url: 'https://auth.example',
      token_new: '',
      token_hash_new: '',
      old_email: '',
      old_phone: '',
      provider: '',
      factor_type: '',
    })
    assert.match(token, /^\d{6}$/)
    const verified = await send(
      server.url,
      `/verify?type=${data.email_action_type}&token=${hash}&redirect_to=${data.redirect_to}`,
    )
    assert.match(verified.headers.get('location') ?? '', /#access_token=/)
  })

  await t.test('receives every kind of message with a valid code', async () => {
    const invited = newEmail()
    await post('/invite', { email: invited }, admin)
    assert.ok((await mailTo(invited, 'invite')).email_data.token_hash)
    const { email } = await server.newUser()
    await post('/magiclink', { email })
    const link = (await mailTo(email, 'magiclink')).email_data
    const byCode = { type: 'magiclink', email, token: link.token }
    const { body } = await post('/verify', byCode)
    assert.ok(body.access_token)
    await post('/recover', { email })
    const { token_hash } = (await mailTo(email, 'recovery')).email_data
    assert.equal((await post('/verify', { type: 'recovery', token_hash })).status, 200)
    await send(server.url, '/reauthenticate', { token: body.access_token })
    const nonce = (await mailTo(email, 'reauthentication')).email_data
    assert.match(nonce.token, /^\d{6}$/)
    assert.deepEqual([nonce.token_hash, nonce.site_url], ['', 'https://auth.example'])
  })

  await t.test('receives both tokens of an email change in one request', async () => {
    const { email } = await server.newUser()
    const { body } = await post('/token?grant_type=password', { email, password })
    const moved = newEmail()
    const call = { method: 'PUT', token: body.access_token, body: { email: moved } }
    assert.equal((await send(server.url, '/user', call)).status, 200)
    const { user, email_data: data } = await mailTo(email, 'email_change')
    assert.equal(user.new_email, moved)
    // The fields are swapped, as existing receivers expect.
    const present = { type: 'email_change', email, token: data.token }
    assert.equal((await post('/verify', present)).body.msg?.includes('other email'), true)
    const fresh = { type: 'email_change', email: moved, token: data.token_new }
    const verified = await post('/verify', fresh)
    assert.deepEqual([verified.status, verified.body.user?.email], [200, moved])
    const sent = payloadsOf(name).filter(({ user: { id } }) => id === user.id)
    assert.equal(sent.filter((each) => each.email_data.token_hash === data.token_hash).length, 1)
  })

  await t.test('receives links that confirm each address', async () => {
    const { email } = await server.newUser()
    const { body } = await post('/token?grant_type=password', { email, password })
    const moved = newEmail()
    await send(server.url, '/user', {
      method: 'PUT',
      token: body.access_token,
      body: { email: moved },
    })
    const { email_data: data } = await mailTo(email, 'email_change')
    const half = await post('/verify', { type: 'email_change', token_hash: data.token_hash })
    assert.equal(half.status, 200)
    const whole = await post('/verify', { type: 'email_change', token_hash: data.token_hash_new })
    assert.equal(whole.body.user?.email, moved)
  })

  await t.test('does not receive an accepted message again', async () => {
    const email = newEmail()
    await post('/signup', { email, password })
    await mailTo(email, 'signup')
    const left = () => query('select 1 from outbox where recipient = $1', [email])
    while ((await left()).length > 0) await new Promise((resolve) => setTimeout(resolve, 10))
    const offers = payloadsOf(name).filter(({ user }) => user.email === email)
    assert.equal(offers.length, 1)
  })

  await t.test('does not receive a rejected message again; the reason is logged', async () => {
    const email = newEmail()
    await withReply(
      name,
      ({ email_data: data }) => rejection(400, `${email} with ${data.token} is on no list`),
      async () => {
        assert.equal((await post('/signup', { email, password })).status, 200)
        const { email_data: data } = await mailTo(email, 'signup')
        const isGivenUp = (line: string) =>
          line.includes('failed permanently') && line.includes('no list')
        while (!server.log.some(isGivenUp)) await new Promise((resolve) => setTimeout(resolve, 10))
        const line = server.log.find(isGivenUp) ?? ''
        assert.match(line, /the hook rejected the message: …@example\.com with … is on no list/)
        assert.ok(!containsSecret(line, data.token))
      },
    )
  })

  await t.test('receives a failed message again later, with the same id', async () => {
    const email = newEmail()
    await withReply(
      name,
      () => ({ status: 500 }),
      async () => {
        assert.equal((await post('/signup', { email, password })).status, 200)
        await mailTo(email, 'signup')
        const retried = () =>
          query('select 1 from outbox where recipient = $1 and last_error is not null', [email])
        while ((await retried()).length === 0) {
          await new Promise((resolve) => setTimeout(resolve, 10))
        }
      },
    )
    await query('update outbox set next_attempt_at = now() where recipient = $1', [email])
    // Any new message wakes the sender.
    await post('/signup', { email: newEmail(), password })
    const offers = () => payloadsOf(name).filter(({ user }) => user.email === email)
    while (offers().length < 2) await new Promise((resolve) => setTimeout(resolve, 10))
    const [first, second] = offers()
    assert.deepEqual(
      [second.metadata.uuid, second.email_data],
      [first.metadata.uuid, first.email_data],
    )
  })
})

test('the send SMS hook', async (t) => {
  const name = 'send-sms'
  const server = await openHookedServer(t, [name], {
    ...factorEnvironment,
    AUTH_SMS_PROVIDER: '',
    AUTH_SMS_WEBHOOK_URL: '',
    AUTH_EXTERNAL_PHONE_ENABLED: 'true',
  })
  if (!server) return
  const { post, waitForCall } = server
  const textTo = (phone: string) => waitForCall(name, ({ sms }) => sms.phone === phone)

  await t.test('receives sign-in codes for every channel', async () => {
    const phone = '15550100200'
    const requested = await post('/otp', { phone: `+${phone}`, channel: 'whatsapp' })
    assert.deepEqual([requested.status, requested.body], [200, {}])
    const { user, sms, metadata } = await textTo(phone)
    assert.deepEqual([user.phone, metadata.ip_address], [phone, '127.0.0.1'])
    assert.deepEqual([sms.sms_type, sms.otp.length], ['confirmation', 6])
    const verified = await post('/verify', { type: 'sms', phone, token: sms.otp })
    assert.deepEqual([verified.status, verified.body.user.id], [200, user.id])
  })

  await t.test('receives the codes of phone factors', async () => {
    const calls = createFactorCalls(server)
    const who = await calls.newSignedInUser()
    const phone = '15550100201'
    const { body } = await calls.enroll(who, { factor_type: 'phone', phone })
    const challenge = await calls.challenge(who, body.id)
    const { user, sms } = await textTo(phone)
    assert.deepEqual([user.id, sms.sms_type], [who.id, 'mfa'])
    const answer = { challenge_id: challenge.body.id, code: sms.otp }
    assert.equal((await calls.call(who, `/factors/${body.id}/verify`, answer)).status, 200)
  })
})
