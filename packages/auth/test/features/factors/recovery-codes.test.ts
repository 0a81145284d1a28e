/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { claimsOf, createFactorCalls, factorEnvironment, methodsOf } from '../../support/factors.ts'
import { errorOf, openFlowServer } from '../../support/flow-server.ts'
import { send } from '../../support/http-client.ts'

const path = '/factors/recovery-codes'
const wrong = [422, 'mfa_verification_failed', 'Invalid recovery code entered']
const notFound = [404, 'mfa_factor_not_found', 'Factor not found']

test('recovery codes', async (t) => {
  const server = await openFlowServer(t, factorEnvironment)
  if (!server) return
  const { url, query, clock } = server
  const calls = createFactorCalls(server)
  type Who = { readonly token: string }
  const status = async ({ token }: Who) => (await send(url, path, { token })).body
  const generate = ({ token }: Who, body?: object) =>
    send(url, path, { method: 'POST', token, ...(body && { body }) })
  const regenerate = ({ token }: Who) => send(url, `${path}/regenerate`, { method: 'POST', token })
  const verify = (who: Who, code: unknown) => calls.call(who, `${path}/verify`, { code })
  const remove = ({ token }: Who) => send(url, path, { method: 'DELETE', token })

  await t.test('ten codes are generated, and each raises a session to aal2 once', async () => {
    const member = await calls.newMember()
    server.takeStatements()
    const { status: ok, body } = await generate(member)
    assert.equal(ok, 200)
    assert.deepEqual(server.takeStatements(), ['find_caller', 'create_recovery_codes'])
    const { id, codes } = body
    assert.deepEqual(
      { ...body, codes: codes.length },
      { id, type: 'recovery_code', friendly_name: 'Recovery codes', total: 10, codes: 10 },
    )
    assert.equal(new Set(codes).size, 10)
    for (const code of codes) assert.match(code, /^[2-9a-hjkmnp-z]{16}$/)
    assert.deepEqual(await status(member), { id, type: 'recovery_code', total: 10, remaining: 10 })
    const rows = await query("select encode(code_hash, 'hex') as hash from mfa_recovery_codes")
    for (const { hash } of rows) assert.match(hash, /^[\da-f]{64}$/)

    const lost = { ...member, ...(await calls.signIn(member.email)) }
    assert.equal((await status(lost)).remaining, 10)
    const typed = codes[0].toUpperCase().replace(/(.{4})(?=.)/g, '$1 - ')
    server.takeStatements()
    const raised = calls.take(lost, await verify(lost, typed))
    assert.deepEqual(server.takeStatements(), ['find_caller', 'use_recovery_code'])
    assert.equal(claimsOf(lost.token).aal, 'aal2')
    assert.deepEqual(new Set(methodsOf(lost.token)), new Set(['mfa/recovery_code', 'otp']))
    assert.deepEqual(
      raised.body.user.factors.map((factor: { factor_type: string }) => factor.factor_type),
      ['totp', 'recovery_code'],
    )
    assert.equal((await status(lost)).remaining, 9)
    const again = await calls.signIn(member.email)
    assert.deepEqual(errorOf(await verify(again, codes[0])), wrong)
    const actions = await server.actionsOf(member.id)
    assert.ok(actions.includes('recovery_codes_generated'))
    assert.equal(actions.filter((action) => action === 'verification_succeeded').length, 2)
  })

  await t.test('only one of several concurrent requests with the same code succeeds', async () => {
    const member = await calls.newMember()
    const { codes } = (await generate(member)).body
    const tokens = [await calls.signIn(member.email), await calls.signIn(member.email)]
    const answers = await Promise.all([...tokens, ...tokens].map((who) => verify(who, codes[3])))
    assert.equal(answers.filter(({ status }) => status === 200).length, 1)
    assert.equal((await status(member)).remaining, 9)
  })

  await t.test('generating a set requires aal2 and that there is none yet', async () => {
    const who = await calls.newSignedInUser()
    assert.deepEqual(errorOf(await generate(who)), [
      403,
      'insufficient_aal',
      'AAL2 required to generate recovery codes',
    ])
    const member = await calls.newMember()
    assert.deepEqual(errorOf(await send(url, path, { token: member.token })), notFound)
    assert.deepEqual(errorOf(await regenerate(member)), notFound)
    assert.deepEqual(errorOf(await remove(member)), notFound)
    assert.deepEqual(errorOf(await verify(member, 'aaaa')), wrong)
    assert.equal((await generate(member, { friendly_name: 'Paper' })).body.friendly_name, 'Paper')
    assert.deepEqual(errorOf(await generate(member)), [
      422,
      'mfa_verified_factor_exists',
      'Recovery codes already exist, regenerate them to get a new set',
    ])
    const lower = await calls.signIn(member.email)
    for (const answer of [await regenerate(lower), await remove(lower)]) {
      assert.deepEqual(answer.body.error_code, 'insufficient_aal')
    }
    assert.equal(
      (await calls.enroll(member, { factor_type: 'totp', friendly_name: 'Paper' })).body.error_code,
      'mfa_factor_name_conflict',
    )
    const { id } = await status(member)
    assert.deepEqual(errorOf(await calls.challenge(member, id)), [
      400,
      'validation_failed',
      'Recovery codes have no challenge: use POST /factors/recovery-codes/verify',
    ])
    // Only one of two concurrent requests succeeds.
    const other = await calls.newMember()
    const both = await Promise.all([generate(other), generate(other)])
    assert.deepEqual(both.map((answer) => answer.status).toSorted(), [200, 422])
    await query("update mfa_factors set status = 'unverified' where id = $1", [other.factorId])
    await query("delete from mfa_factors where factor_type = 'recovery_code' and user_id = $1", [
      other.id,
    ])
    assert.equal((await generate(other)).body.error_code, 'mfa_recovery_codes_sole_factor')
  })

  await t.test('a new set replaces the previous one', async () => {
    const member = await calls.newMember()
    const { body: before } = await generate(member, { friendly_name: 'Paper' })
    const { body: after } = await regenerate(member)
    assert.deepEqual([after.id, after.friendly_name], [before.id, 'Paper'])
    const lower = await calls.signIn(member.email)
    assert.deepEqual(errorOf(await verify(lower, before.codes[0])), wrong)
    assert.equal((await verify(lower, after.codes[0])).status, 200)
    assert.equal((await status(member)).total, 10)
    const removed = await remove(member)
    assert.deepEqual(removed.body, { id: before.id })
    assert.deepEqual(
      await query('select from mfa_recovery_codes where factor_id = $1', [before.id]),
      [],
    )
  })

  await t.test(
    'the codes are removed with the last other factor, and so is the level they gave',
    async () => {
      const member = await calls.newMember()
      const { codes } = (await generate(member)).body
      const lost = { ...member, ...(await calls.signIn(member.email)) }
      calls.take(lost, await verify(lost, codes[5]))
      // The user has lost the phone with the app, removes its factor and enrols a new one.
      assert.equal((await calls.unenroll(lost, member.factorId)).status, 200)
      assert.equal((await calls.user(lost)).factors, undefined)
      const { body } = calls.take(lost, await calls.refresh(lost.refreshToken))
      assert.equal(claimsOf(body.access_token).aal, 'aal1')
      assert.deepEqual(methodsOf(body.access_token), ['otp'])
      assert.equal((await calls.enroll(lost)).status, 200)
    },
  )

  await t.test(
    'after ten wrong codes the session cannot use recovery codes for ten minutes',
    async (t) => {
      t.after(() => {
        clock.aheadMs = 0
      })
      const member = await calls.newMember()
      const { codes } = (await generate(member)).body
      const lower = await calls.signIn(member.email)
      const guesses = await Promise.all(
        Array.from({ length: 10 }, () => verify(lower, 'x'.repeat(16))),
      )
      for (const guess of guesses) assert.deepEqual(errorOf(guess), wrong)
      const locked = await verify(lower, codes[0])
      assert.deepEqual([locked.status, locked.body.error_code], [429, 'mfa_recovery_codes_locked'])
      const seconds = Number(locked.headers.get('retry-after'))
      assert.ok(seconds > 0 && seconds <= 600, `${seconds}`)
      assert.equal((await status(member)).remaining, 10)
      // Only this session is locked, and only for a while.
      const another = await calls.signIn(member.email)
      assert.deepEqual(errorOf(await verify(another, 'y')), wrong)
      const { codes: renewed } = (await regenerate(member)).body
      clock.aheadMs += 601_000
      assert.equal((await verify(lower, renewed[0])).status, 200)
    },
  )
})

test('recovery codes can be disabled', async (t) => {
  const server = await openFlowServer(t, {
    ...factorEnvironment,
    AUTH_MFA_RECOVERY_CODES_ENROLL_ENABLED: 'false',
    AUTH_MFA_RECOVERY_CODES_VERIFY_ENABLED: 'false',
  })
  if (!server) return
  const calls = createFactorCalls(server)
  const member = await calls.newMember()
  assert.deepEqual(errorOf(await calls.call(member, path)), [
    422,
    'mfa_recovery_codes_enroll_not_enabled',
    'MFA enroll is disabled for recovery codes',
  ])
  assert.deepEqual(errorOf(await calls.call(member, `${path}/verify`, { code: 'x' })), [
    422,
    'mfa_recovery_codes_verify_not_enabled',
    'MFA verification is disabled for recovery codes',
  ])
})
