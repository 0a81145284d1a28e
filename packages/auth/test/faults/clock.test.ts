/**
 * @legs safety
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorOf, openFlowServer } from '../support/flow-server.ts'
import { newEmail, password, send } from '../support/http-client.ts'

const hourMs = 3_600_000
const minuteMs = 60_000

/** Simulates a machine whose clock was wrong and is corrected. */
test('a clock that is set ahead or back', async (t) => {
  const server = await openFlowServer(t, {
    AUTH_RATE_LIMIT_VERIFY: '5',
    AUTH_RATE_LIMIT_EMAIL_SENT: '5',
    AUTH_MAILER_OTP_EXP: '1800',
    AUTH_SESSIONS_INACTIVITY_TIMEOUT: '3h',
    AUTH_SESSIONS_TIMEBOX: '24h',
  })
  if (!server) return
  const { post, clock, url, query } = server
  const { email } = await server.newUser()
  const step = (ms: number) => {
    clock.aheadMs += ms
  }
  const logIn = async () => (await post('/token?grant_type=password', { email, password })).body
  const getUser = (token: string) => send(url, '/user', { token })
  const refresh = (token: string) =>
    post('/token?grant_type=refresh_token', { refresh_token: token })
  const nowSeconds = () => clock.now() / 1_000
  /** Checks that a new session is valid for an hour from the current time. */
  const assertSane = async () => {
    const session = await logIn()
    assert.equal(session.expires_in, 3_600)
    assert.ok(Math.abs(session.expires_at - nowSeconds() - 3_600) < 60)
    assert.equal((await getUser(session.access_token)).status, 200)
    const next = await refresh(session.refresh_token)
    assert.equal(next.status, 200)
    // A repeated refresh within the reuse interval returns the same token.
    const again = await refresh(session.refresh_token)
    assert.equal(again.body.refresh_token, next.body.refresh_token)
  }
  const emptyCaps = () => query('delete from message_caps')

  await t.test('an hour ahead expires access tokens but ends no session', async () => {
    const session = await logIn()
    step(hourMs)
    const [status, code] = errorOf(await getUser(session.access_token))
    assert.deepEqual([status, code], [403, 'bad_jwt'])
    const renewed = await refresh(session.refresh_token)
    assert.equal(renewed.status, 200)
    assert.equal((await getUser(renewed.body.access_token)).status, 200)
    await assertSane()
  })

  await t.test('an hour back ends no session, and tokens keep their expiry', async () => {
    const session = await logIn()
    step(-hourMs)
    assert.equal((await getUser(session.access_token)).status, 200)
    const renewed = await refresh(session.refresh_token)
    assert.equal(renewed.status, 200)
    await assertSane()
    step(2 * hourMs + minuteMs)
    assert.equal((await getUser(session.access_token)).status, 403)
    assert.equal((await refresh(renewed.body.refresh_token)).status, 200)
    step(-hourMs)
  })

  await t.test('extends the reuse interval by no more than the step', async () => {
    const session = await logIn()
    const child = await refresh(session.refresh_token)
    step(-hourMs)
    step(hourMs / 2)
    const again = await refresh(session.refresh_token)
    assert.equal(again.body.refresh_token, child.body.refresh_token)
    step(hourMs / 2 + minuteMs)
    const [status, code] = errorOf(await refresh(session.refresh_token))
    assert.deepEqual([status, code], [400, 'refresh_token_already_used'])
  })

  await t.test('affects the inactivity timeout of sessions', async () => {
    const session = await logIn()
    step(4 * hourMs)
    const [status, code] = errorOf(await refresh(session.refresh_token))
    assert.deepEqual([status, code], [400, 'session_expired'])
    step(-4 * hourMs)
    await assertSane()
  })

  await t.test('expires codes early or late by no more than the step', async () => {
    await emptyCaps()
    const [early, late] = [newEmail(), newEmail()]
    await post('/otp', { email: early })
    const { code: earlyCode } = await server.mailTo(early)
    step(hourMs)
    const over = await post('/verify', { type: 'email', email: early, token: earlyCode })
    assert.equal(errorOf(over)[1], 'otp_expired')
    await post('/otp', { email: late })
    const { code: lateCode } = await server.mailTo(late)
    step(-hourMs)
    const fine = await post('/verify', { type: 'email', email: late, token: lateCode })
    assert.equal(fine.status, 200)
  })

  await t.test('allows no more requests than before and locks no client out', async () => {
    const guess = async () => {
      const answer = await post('/verify', { type: 'email', email, token: '000000' })
      return { isRefused: answer.status === 429, wait: Number(answer.headers.get('retry-after')) }
    }
    const useUp = async () => {
      for (let tries = 0; tries < 10; tries++) {
        const { isRefused, wait } = await guess()
        if (!isRefused) continue
        assert.ok(wait >= 1 && wait <= 60, `${wait} s`)
        return tries
      }
      throw new Error('There is no limit')
    }
    await useUp()
    step(-hourMs)
    assert.equal((await guess()).isRefused, true)
    step(minuteMs)
    assert.equal((await guess()).isRefused, false)
    // A step ahead refills the limit as after an hour without requests, and no more.
    step(hourMs)
    assert.ok((await useUp()) <= 5)
    step(-minuteMs)
    assert.equal((await guess()).isRefused, true)
  })

  await t.test('allows no more messages per hour, and every wait ends', async () => {
    await emptyCaps()
    const sendCode = () => post('/otp', { email: newEmail() })
    for (let sent = 0; sent < 5; sent++) assert.equal((await sendCode()).status, 200)
    const assertRefused = async (mostSeconds: number) => {
      const refused = await sendCode()
      assert.deepEqual(errorOf(refused).slice(0, 2), [429, 'over_email_send_rate_limit'])
      const wait = Number(refused.headers.get('retry-after'))
      assert.ok(wait >= 1 && wait <= mostSeconds, `${wait} s`)
    }
    await assertRefused(3_600)
    step(-hourMs)
    await assertRefused(7_200)
    step(2 * hourMs)
    assert.equal((await sendCode()).status, 200)
    step(-hourMs)
    assert.equal((await sendCode()).status, 200)
  })

  await t.test('never extends a cooldown beyond its length', async () => {
    await emptyCaps()
    const address = newEmail()
    await post('/otp', { email: address })
    step(-hourMs)
    assert.equal((await post('/otp', { email: address })).status, 200)
    const refused = await post('/otp', { email: address })
    const wait = Number(refused.headers.get('retry-after'))
    assert.ok(refused.status === 429 && wait >= 1 && wait <= 60, `${refused.status}, ${wait} s`)
    step(hourMs + minuteMs + 1_000)
    assert.equal((await post('/otp', { email: address })).status, 200)
  })

  await t.test('fails no request', () => {
    assert.doesNotMatch(server.log.join(''), /status=5\d\d|level=error|unhandled/i)
  })
})
