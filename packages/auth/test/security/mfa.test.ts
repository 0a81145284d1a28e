/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { claimsOf, createApp, createFactorCalls, factorEnvironment } from '../support/factors.ts'
import { errorOf, openFlowServer } from '../support/flow-server.ts'
import { newEmail, send } from '../support/http-client.ts'

const wrong = [422, 'mfa_verification_failed', 'Invalid TOTP code entered']
const mismatch = [422, 'mfa_ip_address_mismatch', 'Challenge and verify IP addresses mismatch.']

test('second factors', async (t) => {
  const server = await openFlowServer(t, {
    ...factorEnvironment,
    AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
    AUTH_TRUSTED_HOPS: '1',
  })
  if (!server) return
  const { url, query, clock } = server
  const calls = createFactorCalls(server)
  const { call, challenge, answer } = calls
  const put = (token: string, body: object) => send(url, '/user', { method: 'PUT', token, body })

  await t.test('at aal1 a user cannot change what a factor protects (property 24)', async () => {
    const member = await calls.newMember()
    const lower = await calls.signIn(member.email)
    const refused = [
      await put(lower.token, { email: newEmail() }),
      await put(lower.token, { password: 'another correct horse' }),
      await calls.enroll(lower),
      await calls.unenroll(lower, member.factorId),
      await call(lower, '/factors/recovery-codes'),
    ]
    for (const { body } of refused) assert.equal(body.error_code, 'insufficient_aal')
    assert.deepEqual(
      refused.map(({ status }) => status),
      [401, 401, 403, 422, 403],
    )
    assert.equal((await calls.user(member)).factors.length, 1)
  })

  await t.test('a token from before the second factor stays at aal1 (property 24)', async () => {
    const who = await calls.newSignedInUser()
    const before = who.token
    const { body: factor } = await calls.enroll(who)
    const app = createApp(factor.totp.secret, clock)
    calls.take(who, await answer(who, factor.id, app.nextCode()))
    // The session is raised, but not a token that was stolen from it earlier.
    assert.equal((await put(before, { email: newEmail() })).body.error_code, 'insufficient_aal')
    assert.equal((await calls.unenroll({ token: before }, factor.id)).status, 422)
    assert.equal((await put(who.token, { email: newEmail() })).status, 200)
  })

  await t.test('a code works once, for any challenge (property 24)', async () => {
    const member = await calls.newMember()
    assert.deepEqual(errorOf(await answer(member, member.factorId, member.app.lastCode())), wrong)
    const code = member.app.nextCode()
    const lower = await calls.signIn(member.email)
    const raised = await answer(lower, member.factorId, code)
    assert.equal(raised.status, 200)
    const again = await calls.signIn(member.email)
    assert.deepEqual(errorOf(await answer(again, member.factorId, code)), wrong)
    // The previous code does not work either, although it has not expired.
    assert.equal((await answer(again, member.factorId, member.app.nextCode())).status, 200)
    assert.deepEqual(errorOf(await answer(member, member.factorId, code)), wrong)
  })

  await t.test(
    'only one of several concurrent requests with a code succeeds (property 24)',
    async () => {
      const member = await calls.newMember()
      const code = member.app.nextCode()
      const sessions = [await calls.signIn(member.email), await calls.signIn(member.email)]
      const challenged = await Promise.all(
        [...sessions, ...sessions].map(async (who) => {
          const { body } = await challenge(who, member.factorId)
          return { who, id: body.id }
        }),
      )
      const answers = await Promise.all(
        challenged.map(({ who, id }) =>
          call(who, `/factors/${member.factorId}/verify`, { challenge_id: id, code }),
        ),
      )
      assert.equal(answers.filter(({ status }) => status === 200).length, 1)
    },
  )

  await t.test(
    'a challenge works once, from the address that requested it (property 24)',
    async () => {
      const member = await calls.newMember()
      const path = `/factors/${member.factorId}`
      const { body: used } = await challenge(member, member.factorId)
      const verify = (id: string, code: string, headers = {}) =>
        send(url, `${path}/verify`, {
          token: member.token,
          headers,
          body: { challenge_id: id, code },
        })
      calls.take(member, await verify(used.id, member.app.nextCode()))
      assert.deepEqual(errorOf(await verify(used.id, member.app.nextCode())), mismatch)
      const elsewhere = { 'x-forwarded-for': '203.0.113.9' }
      const { body: ours } = await challenge(member, member.factorId)
      assert.deepEqual(errorOf(await verify(ours.id, member.app.nextCode(), elsewhere)), mismatch)
      assert.equal((await verify(ours.id, member.app.lastCode())).status, 200)
    },
  )

  await t.test('factors and challenges of other users are not found (property 24)', async () => {
    const [one, other] = [await calls.newMember(), await calls.newMember()]
    const { body } = await challenge(other, other.factorId)
    const code = other.app.nextCode()
    const foreign = [
      await challenge(one, other.factorId),
      await call(one, `/factors/${other.factorId}/verify`, { challenge_id: body.id, code }),
      await calls.unenroll(one, other.factorId),
      await call(one, `/factors/${one.factorId}/verify`, { challenge_id: body.id, code }),
    ]
    for (const { body } of foreign) assert.equal(body.error_code, 'mfa_factor_not_found')
    const own = await call(other, `/factors/${other.factorId}/verify`, {
      challenge_id: body.id,
      code,
    })
    assert.equal(own.status, 200)
  })

  await t.test(
    'a refresh token from before a second factor stops working (property 24)',
    async () => {
      const who = await calls.newSignedInUser()
      const { refreshToken: before } = who
      const { body: factor } = await calls.enroll(who)
      const app = createApp(factor.totp.secret, clock)
      calls.take(who, await answer(who, factor.id, app.nextCode()))
      const old = await calls.refresh(before)
      assert.deepEqual([old.status, old.body.error_code], [400, 'refresh_token_already_used'])
      // Like any reuse, it ends the session, so the token is useless.
      assert.equal((await calls.refresh(who.refreshToken)).body.error_code, 'session_not_found')
    },
  )

  await t.test(
    'removing a factor lowers the session to aal1, even if its token says aal2 (property 24)',
    async () => {
      const member = await calls.newMember()
      const { body: spare } = await calls.enroll(member)
      const app = createApp(spare.totp.secret, clock)
      calls.take(member, await answer(member, spare.id, app.nextCode()))
      const other = { ...member, ...(await calls.signIn(member.email)) }
      calls.take(other, await answer(other, member.factorId, member.app.nextCode()))
      await calls.unenroll(other, member.factorId)
      // The access token still says aal2, but the session does not.
      assert.equal(claimsOf(other.token).aal, 'aal2')
      assert.equal((await calls.enroll(other)).body.error_code, 'insufficient_aal')
      assert.equal((await calls.unenroll(other, spare.id)).body.error_code, 'insufficient_aal')
      assert.equal(
        claimsOf((await calls.refresh(other.refreshToken)).body.access_token).aal,
        'aal1',
      )
    },
  )

  await t.test('guessing is limited across all addresses (property 24)', async (t) => {
    t.after(() => {
      clock.aheadMs = 0
    })
    const member = await calls.newMember()
    const lower = await calls.signIn(member.email)
    const guess = async (id: string, ip: string, code = member.app.wrongCode()) =>
      send(url, `/factors/${member.factorId}/verify`, {
        token: lower.token,
        headers: { 'x-forwarded-for': ip },
        body: { challenge_id: id, code },
      })
    const challengeFrom = async (ip: string): Promise<string> => {
      const options = { token: lower.token, headers: { 'x-forwarded-for': ip }, body: {} }
      return (await send(url, `/factors/${member.factorId}/challenge`, options)).body.id
    }
    const first = await challengeFrom('203.0.113.1')
    const five = await Promise.all(Array.from({ length: 7 }, () => guess(first, '203.0.113.1')))
    assert.deepEqual(five.map(({ body }) => body.error_code).toSorted(), [
      ...Array.from({ length: 2 }, () => 'mfa_challenge_expired'),
      ...Array.from({ length: 5 }, () => 'mfa_verification_failed'),
    ])
    const second = await challengeFrom('203.0.113.2')
    for (let tries = 0; tries < 5; tries += 1) await guess(second, '203.0.113.2')
    const third = await challengeFrom('203.0.113.3')
    const locked = await guess(third, '203.0.113.3', member.app.nextCode())
    assert.deepEqual([locked.status, locked.body.error_code], [429, 'over_request_rate_limit'])
    const seconds = Number(locked.headers.get('retry-after'))
    assert.ok(seconds > 0 && seconds <= 600, `${seconds}`)
    clock.aheadMs += 601_000
    const later = await challengeFrom('203.0.113.3')
    assert.equal((await guess(later, '203.0.113.3', member.app.nextCode())).status, 200)
    const rows = await query('select factor_failures from sessions where user_id = $1', [member.id])
    assert.ok(rows.every(({ factor_failures: failures }) => isDeepStrictEqual(failures, {})))
  })

  await t.test('the log has neither secrets nor codes (property 24)', async () => {
    const member = await calls.newMember()
    const { body } = await call(member, '/factors/recovery-codes')
    const rows = await query('select payload::text as text from audit_log_entries')
    const texts = [...rows.map(({ text }) => text), ...server.log].join('\n')
    for (const secret of [member.app.lastCode(), ...body.codes]) {
      assert.ok(!texts.includes(`"${secret}"`))
    }
    assert.match(texts, /verification_attempted/)
  })

  await t.test(
    'an anonymous user cannot have factors, or a password without an address (property 37)',
    async () => {
      const { body } = await server.post('/signup', {})
      const who = { token: body.access_token as string }
      const refused = [
        403,
        'no_authorization',
        'Anonymous user not allowed to perform these actions',
      ]
      const id = '11111111-2222-4333-8444-555555555555'
      for (const answer of [
        await calls.enroll(who),
        await challenge(who, id),
        await call(who, `/factors/${id}/verify`, { challenge_id: id, code: '123456' }),
        await calls.unenroll(who, id),
        await call(who, '/factors/recovery-codes'),
        await call(who, '/factors/recovery-codes/verify', { code: 'x' }),
      ]) {
        assert.deepEqual(errorOf(answer), refused)
      }
      const alone = await put(who.token, { password: 'another correct horse' })
      assert.deepEqual([alone.status, alone.body.error_code], [422, 'validation_failed'])
    },
  )
})
