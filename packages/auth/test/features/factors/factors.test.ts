/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  claimsOf,
  createApp,
  createFactorCalls,
  factorEnvironment,
  methodsOf,
} from '../../support/factors.ts'
import { errorOf, openFlowServer } from '../../support/flow-server.ts'
import { newEmail, send } from '../../support/http-client.ts'

const another = 'another correct horse'
const wrong = [422, 'mfa_verification_failed', 'Invalid TOTP code entered']
const notFound = [404, 'mfa_factor_not_found', 'Factor not found']
const someId = '11111111-2222-4333-8444-555555555555'

test('TOTP factors', async (t) => {
  const server = await openFlowServer(t, factorEnvironment)
  if (!server) return
  const { url, query, clock } = server
  const calls = createFactorCalls(server)
  const { enroll, challenge, answer, unenroll, call, take } = calls

  await t.test('from enrolment to aal2, with the expected statements', async () => {
    const who = await calls.newSignedInUser()
    assert.equal(claimsOf(who.token).aal, 'aal1')
    server.takeStatements()
    const enrolled = await enroll(who, { factor_type: 'totp', friendly_name: 'My app' })
    assert.deepEqual(server.takeStatements(), ['find_caller', 'enroll_factor'])
    assert.equal(enrolled.status, 200, JSON.stringify(enrolled.body))
    const { id, type, friendly_name, totp } = enrolled.body
    assert.deepEqual([type, friendly_name], ['totp', 'My app'])
    assert.match(totp.secret, /^[A-Z2-7]{32}$/)
    assert.match(totp.qr_code, /^<svg [^#]*<\/svg>$/s)
    assert.equal(
      totp.uri,
      `otpauth://totp/site.example:${encodeURIComponent(who.email)}?algorithm=SHA1&digits=6` +
        `&issuer=site.example&period=30&secret=${totp.secret}`,
    )
    const [factor] = (await calls.user(who)).factors
    assert.deepEqual(Object.keys(factor), [
      'id',
      'friendly_name',
      'factor_type',
      'status',
      'phone',
      'created_at',
      'updated_at',
      'last_challenged_at',
    ])
    assert.deepEqual(
      [factor.id, factor.status, factor.phone, factor.last_challenged_at],
      [id, 'unverified', '', null],
    )

    server.takeStatements()
    const challenged = await challenge(who, id)
    assert.deepEqual(server.takeStatements(), ['find_caller', 'challenge_factor'])
    assert.deepEqual(Object.keys(challenged.body), ['id', 'type', 'expires_at'])
    const inSeconds = challenged.body.expires_at - clock.now() / 1_000
    assert.ok(inSeconds > 200 && inSeconds <= 300, `${inSeconds}`)
    const app = createApp(totp.secret, clock)
    const code = app.nextCode()
    server.takeStatements()
    const verified = take(
      who,
      await call(who, `/factors/${id}/verify`, {
        challenge_id: challenged.body.id,
        code: `${code.slice(0, 3)} ${code.slice(3)}`,
      }),
    )
    assert.deepEqual(server.takeStatements(), ['find_caller', 'try_challenge', 'accept_factor'])
    assert.deepEqual(
      verified.body.user.factors.map(({ status }: { status: string }) => status),
      ['verified'],
    )
    assert.equal(claimsOf(who.token).aal, 'aal2')
    assert.deepEqual(new Set(methodsOf(who.token)), new Set(['totp', 'otp']))
    const after = await calls.user(who)
    assert.match(after.factors[0].last_challenged_at, /^\d{4}-\d\d-\d\dT.*Z$/)

    const refreshed = take(who, await calls.refresh(who.refreshToken))
    assert.equal(claimsOf(refreshed.body.access_token).aal, 'aal2')
    take(who, await answer(who, id, app.nextCode()))
    assert.equal(methodsOf(who.token).filter((method) => method === 'totp').length, 1)
    const actions = await server.actionsOf(who.id)
    assert.deepEqual(
      actions.filter((action) => /factor|challenge|verification/.test(action)),
      [
        'factor_in_progress',
        'challenge_created',
        'verification_attempted',
        'verification_succeeded',
        'challenge_created',
        'verification_attempted',
        'verification_succeeded',
      ],
    )
    assert.deepEqual((await unenroll(who, id)).body, { id })
    assert.equal((await calls.user(who)).factors, undefined)
  })

  await t.test('the secret is stored encrypted', async () => {
    const who = await calls.newSignedInUser()
    const { body } = await enroll(who)
    const [row] = await query(
      'select secret, to_json(f)::text as text from mfa_factors f where id = $1',
      [body.id],
    )
    assert.ok(!row.text.includes(body.totp.secret))
    const plain = createBytes(body.totp.secret)
    assert.equal(row.secret.includes(plain), false)
    assert.equal(plain.length, 20)
    // The ciphertext is bound to its row.
    const other = await calls.newSignedInUser()
    const { body: moved } = await enroll(other)
    await query('update mfa_factors set secret = $1 where id = $2', [row.secret, moved.id])
    const app = createApp(body.totp.secret, clock)
    assert.equal((await answer(other, moved.id, app.nextCode())).status, 500)
  })

  await t.test('the URI has the issuer, also for users without an email address', async () => {
    const who = await calls.newSignedInUser()
    const { body } = await enroll(who, { factor_type: 'totp', issuer: 'A & B: C' })
    assert.match(
      body.totp.uri,
      /^otpauth:\/\/totp\/A%20%26%20B%3A%20C:.*&issuer=A%20%26%20B%3A%20C&/,
    )
    for (const issuer of ['x'.repeat(1_000), '\u{1F600}'.repeat(100), '\ud800', '\0']) {
      const refused = await enroll(who, { factor_type: 'totp', issuer })
      assert.deepEqual([refused.status, refused.body.error_code], [400, 'validation_failed'])
    }
    await query("update users set email = null, phone = '15550123' where id = $1", [who.id])
    const { body: byPhone } = await enroll(who, { factor_type: 'totp' })
    assert.match(byPhone.totp.uri, /^otpauth:\/\/totp\/site\.example:15550123\?/)
    await query('update users set phone = null where id = $1', [who.id])
    const { body: byId } = await enroll(who, { factor_type: 'totp' })
    assert.ok(byId.totp.uri.startsWith(`otpauth://totp/site.example:${who.id}?`))
  })

  await t.test('invalid enrolments are refused', async () => {
    const who = await calls.newSignedInUser()
    for (const factor_type of [undefined, '', 'recovery_code', 'toString', 'sms']) {
      assert.deepEqual(errorOf(await enroll(who, { factor_type })), [
        400,
        'validation_failed',
        'factor_type needs to be totp, phone, or webauthn',
      ])
    }
    const named = { factor_type: 'totp', friendly_name: 'App' }
    assert.equal((await enroll(who, named)).status, 200)
    assert.deepEqual(errorOf(await enroll(who, named)), [
      422,
      'mfa_factor_name_conflict',
      'A factor with the friendly name "App" for this user already exists',
    ])
    const atOnce = await Promise.all(
      Array.from({ length: 3 }, () => enroll(who, { ...named, friendly_name: 'Race' })),
    )
    assert.deepEqual(atOnce.map(({ status }) => status).toSorted(), [200, 422, 422])
    for (let count = 2; count < 10; count += 1) assert.equal((await enroll(who)).status, 200)
    assert.deepEqual(errorOf(await enroll(who)), [
      422,
      'too_many_enrolled_mfa_factors',
      'Maximum number of verified factors reached, unenroll to continue',
    ])
    // Factors that were not verified in time are removed, and their names can be used again.
    await query(
      "update mfa_factors set created_at = created_at - interval '301 seconds' where user_id = $1",
      [who.id],
    )
    assert.equal((await enroll(who, named)).status, 200)
    assert.equal((await calls.user(who)).factors.length, 1)
  })

  await t.test('invalid challenges and wrong codes are refused', async () => {
    const who = await calls.newSignedInUser()
    const other = await calls.newSignedInUser()
    const { body: factor } = await enroll(who)
    const app = createApp(factor.totp.secret, clock)
    const verify = (challenge_id: unknown, code: unknown) =>
      call(who, `/factors/${factor.id}/verify`, { challenge_id, code })
    assert.deepEqual(errorOf(await challenge(who, someId)), notFound)
    assert.deepEqual(errorOf(await challenge(other, factor.id)), notFound)
    assert.deepEqual(errorOf(await answer(who, someId, '123456')), notFound)
    assert.deepEqual(errorOf(await unenroll(other, factor.id)), notFound)
    assert.deepEqual(errorOf(await challenge(who, 'x')), [
      404,
      'validation_failed',
      'factor_id must be an UUID',
    ])
    for (const id of ['', 'x', someId]) {
      assert.deepEqual(errorOf(await verify(id, '123456')), [
        422,
        'mfa_factor_not_found',
        'MFA factor with the provided challenge ID not found',
      ])
    }
    const { body: fresh } = await challenge(who, factor.id)
    for (const code of [undefined, '', '  ']) {
      assert.deepEqual(errorOf(await verify(fresh.id, code)), [
        400,
        'validation_failed',
        'Code needs to be non-empty',
      ])
    }
    assert.deepEqual(errorOf(await verify(fresh.id, app.wrongCode())), wrong)
    for (const code of ['abc', '12345', '1234567', '１２３４５６']) {
      assert.deepEqual(errorOf(await verify(fresh.id, code)), wrong)
    }
    const { body: old } = await challenge(who, factor.id)
    await query(
      "update mfa_challenges set expires_at = expires_at - interval '301 s' where id = $1",
      [old.id],
    )
    assert.deepEqual(errorOf(await verify(old.id, app.nextCode())), [
      422,
      'mfa_challenge_expired',
      `MFA challenge ${old.id} has expired, verify against another challenge or create a new challenge.`,
    ])
    assert.equal((await send(url, '/factors', { body: { factor_type: 'totp' } })).status, 401)
  })

  await t.test(
    'verifying a factor ends sessions below aal2 and removes unverified factors',
    async () => {
      const member = await calls.newMember()
      const lower = await calls.signIn(member.email)
      assert.equal(claimsOf(lower.token).aal, 'aal1')
      take(member, await calls.refresh(member.refreshToken))
      const { body: half } = await enroll(member)
      const { body: byPhone } = await enroll(member, { factor_type: 'phone', phone: '+1555000111' })
      take(member, await answer(member, member.factorId, member.app.nextCode()))
      assert.equal((await call(lower, '/factors')).body.error_code, 'session_not_found')
      assert.equal((await calls.refresh(lower.refreshToken)).body.error_code, 'session_not_found')
      const ids = (await calls.user(member)).factors.map(({ id }: { id: string }) => id)
      assert.deepEqual(ids, [member.factorId, byPhone.id])
      assert.ok(!ids.includes(half.id))
    },
  )

  await t.test('removing a factor lowers the sessions that used it to aal1', async () => {
    const member = await calls.newMember()
    const second = { ...member, ...(await calls.signIn(member.email)) }
    take(second, await answer(second, member.factorId, member.app.nextCode()))
    const { body: spare } = await enroll(member)
    const app = createApp(spare.totp.secret, clock)
    take(member, await answer(member, spare.id, app.nextCode()))
    assert.equal((await unenroll(member, member.factorId)).status, 200)
    // One session used the remaining factor, the other only the removed one.
    const stays = take(member, await calls.refresh(member.refreshToken))
    assert.deepEqual([claimsOf(stays.body.access_token).aal], ['aal2'])
    const drops = take(second, await calls.refresh(second.refreshToken))
    assert.equal(claimsOf(drops.body.access_token).aal, 'aal1')
    assert.deepEqual(methodsOf(drops.body.access_token), ['otp'])
    assert.deepEqual(errorOf(await unenroll(second, spare.id)), [
      422,
      'insufficient_aal',
      'AAL2 required to unenroll verified factor',
    ])
    assert.equal((await unenroll(member, spare.id)).status, 200)
    const last = take(member, await calls.refresh(member.refreshToken))
    assert.deepEqual(methodsOf(last.body.access_token), ['otp'])
    assert.equal(claimsOf(last.body.access_token).aal, 'aal1')
  })

  await t.test('a factor makes aal2 necessary to change email, phone or password', async () => {
    const member = await calls.newMember()
    const put = (token: string, body: object) => send(url, '/user', { method: 'PUT', token, body })
    await query('update users set is_sso_user = false where id = $1', [member.id])
    const { token } = await calls.signIn(member.email)
    for (const body of [{ email: newEmail() }, { phone: '15550199' }, { password: another }]) {
      assert.deepEqual(errorOf(await put(token, body)), [
        401,
        'insufficient_aal',
        'AAL2 session is required to update email or password when MFA is enabled.',
      ])
    }
    assert.equal((await put(token, { data: { a: 1 } })).status, 200)
    assert.equal((await put(token, { email: member.email })).status, 200)
    assert.equal((await put(member.token, { password: another })).status, 200)
    const unverified = await calls.newSignedInUser()
    await enroll(unverified)
    assert.equal((await put(unverified.token, { password: another })).status, 200)
  })

  await t.test('another factor can be enrolled and verified only at aal2', async () => {
    const who = await calls.newSignedInUser()
    const { body: early } = await enroll(who, { factor_type: 'phone', phone: '15550177' })
    const { body: factor } = await enroll(who)
    const app = createApp(factor.totp.secret, clock)
    take(who, await answer(who, factor.id, app.nextCode()))
    const lower = await calls.signIn(who.email)
    const refused = [403, 'insufficient_aal', 'AAL2 required to enroll a new factor']
    assert.deepEqual(errorOf(await enroll(lower)), refused)
    assert.deepEqual(errorOf(await challenge(lower, early.id)), refused)
    assert.deepEqual(errorOf(await answer(lower, early.id, '123456')), refused)
    assert.equal((await enroll(who)).status, 200)
    // An unverified factor can be removed at aal1.
    assert.equal((await unenroll(lower, early.id)).status, 200)
  })

  await t.test('a token whose session has ended cannot enroll a factor', async () => {
    const who = await calls.newSignedInUser()
    await query('delete from sessions where user_id = $1', [who.id])
    assert.equal((await enroll(who)).body.error_code, 'session_not_found')
  })
})

/** A separate base32 decoder, independent of the code under test. */
function createBytes(text: string): Buffer {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
  const bits = [...text].map((each) => alphabet.indexOf(each).toString(2).padStart(5, '0')).join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
}

test('disabled factor types, and factors beyond the maximum number, are refused', async (t) => {
  const server = await openFlowServer(t, {
    AUTH_MFA_TOTP_VERIFY_ENABLED: 'false',
    AUTH_MFA_MAX_ENROLLED_FACTORS: '1',
  })
  if (!server) return
  const calls = createFactorCalls(server)
  const who = await calls.newSignedInUser()
  assert.deepEqual(errorOf(await calls.enroll(who, { factor_type: 'phone', phone: '15550100' })), [
    422,
    'mfa_phone_enroll_not_enabled',
    'MFA enroll is disabled for Phone',
  ])
  const { body } = await calls.enroll(who)
  const disabled = [422, 'mfa_totp_verify_not_enabled', 'MFA verification is disabled for TOTP']
  assert.deepEqual(errorOf(await calls.challenge(who, body.id)), disabled)
  assert.deepEqual(
    errorOf(
      await calls.call(who, `/factors/${body.id}/verify`, { challenge_id: someId, code: '1' }),
    ),
    disabled,
  )
  assert.equal((await calls.enroll(who)).body.error_code, 'too_many_enrolled_mfa_factors')
  // The endpoint limit is on by default: a burst of thirty, then fifteen a minute.
  const challenges = await Promise.all(
    Array.from({ length: 35 }, () => calls.challenge(who, body.id)),
  )
  const limited = challenges.filter(({ status }) => status === 429)
  assert.ok(limited.length >= 6, `${limited.length}`)
  assert.equal(limited[0]?.body.error_code, 'over_request_rate_limit')
})

test('no more factors than the maximum can be verified', async (t) => {
  const server = await openFlowServer(t, {
    ...factorEnvironment,
    AUTH_MFA_MAX_VERIFIED_FACTORS: '1',
  })
  if (!server) return
  const { clock } = server
  const calls = createFactorCalls(server)
  const who = await calls.newSignedInUser()
  const tooMany = [
    422,
    'too_many_enrolled_mfa_factors',
    'Maximum number of verified factors reached, unenroll to continue',
  ]
  const { body: phone } = await calls.enroll(who, { factor_type: 'phone', phone: '15550100' })
  const { body: factor } = await calls.enroll(who)
  const app = createApp(factor.totp.secret, clock)
  calls.take(who, await calls.answer(who, factor.id, app.nextCode()))
  assert.deepEqual(errorOf(await calls.answer(who, phone.id, '123456')), tooMany)
  assert.deepEqual(errorOf(await calls.enroll(who)), tooMany)
  // Recovery codes do not count towards the maximum.
  assert.equal((await calls.call(who, '/factors/recovery-codes')).status, 200)
})
