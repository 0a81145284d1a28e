/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFactorCalls, factorEnvironment } from '../../support/factors.ts'
import { errorOf } from '../../support/flow-server.ts'
import { type HookedServer, openHookedServer, rejection } from '../../support/hooked-server.ts'
import { newEmail, password, send } from '../../support/http-client.ts'

const reject = (message?: string, more: object = {}) => ({
  body: { decision: 'reject', ...(message !== undefined && { message }), ...more },
})

const openSessions = async ({ query }: HookedServer, userId: string) =>
  (await query('select 1 from sessions where user_id = $1 and revoked_at is null', [userId])).length

test('the password verification hook', async (t) => {
  const name = 'password-verification'
  const server = await openHookedServer(t, [name])
  if (!server) return
  const { post, withReply, payloadsOf } = server
  const { id, email } = await server.newUser()
  const login = (word = password) => post('/token?grant_type=password', { email, password: word })

  await t.test('is called for every attempt and cannot accept a wrong password', async () => {
    assert.equal((await login()).status, 200)
    assert.equal((await login('wrong')).status, 400)
    const payloads = payloadsOf(name).map(({ metadata, ...rest }) => rest)
    assert.deepEqual(payloads, [
      { user_id: id, valid: true },
      { user_id: id, valid: false },
    ])
    const goOn = () => ({ body: { decision: 'continue' } })
    assert.equal((await withReply(name, goOn, login)).status, 200)
    assert.deepEqual(errorOf(await withReply(name, goOn, () => login('wrong'))), [
      400,
      'invalid_credentials',
      'Invalid login credentials',
    ])
  })

  await t.test('is not called for unknown users', async () => {
    const count = payloadsOf(name).length
    await post('/token?grant_type=password', { email: newEmail(), password })
    assert.equal(payloadsOf(name).length, count)
  })

  await t.test('may refuse a correct password', async () => {
    const refused = (message: string) => [400, 'invalid_credentials', message]
    const own = await withReply(name, () => reject('Try again tomorrow'), login)
    assert.deepEqual(errorOf(own), refused('Try again tomorrow'))
    const ours = await withReply(name, () => reject(), login)
    assert.deepEqual(
      errorOf(ours),
      refused('Further password verification attempts will be rejected.'),
    )
    assert.ok((await openSessions(server, id)) > 0)
  })

  await t.test('may end all sessions of the user', async () => {
    await login()
    const answer = await withReply(name, () => reject('No', { should_logout_user: true }), login)
    assert.equal(answer.status, 400)
    assert.equal(await openSessions(server, id), 0)
    assert.equal((await server.actionsOf(id)).at(-1), 'logout')
  })

  await t.test('no sign-in succeeds without its decision', async () => {
    const odd = await withReply(name, () => ({ body: { decision: 'perhaps' } }), login)
    assert.deepEqual(errorOf(odd), [
      500,
      'unexpected_failure',
      'Hook must decide continue or reject',
    ])
    const broken = await withReply(name, () => ({ status: 401 }), login)
    assert.deepEqual(errorOf(broken), [
      500,
      'unexpected_failure',
      'Hook requires authorization token',
    ])
    const error = await withReply(name, () => rejection(429, 'Slowly'), login)
    assert.deepEqual(errorOf(error), [429, 'unknown', 'Slowly'])
    assert.equal(await openSessions(server, id), 0)
  })
})

test('the MFA verification hook', async (t) => {
  const name = 'mfa-verification'
  const server = await openHookedServer(t, [name], factorEnvironment)
  if (!server) return
  const { withReply, payloadsOf } = server
  const calls = createFactorCalls(server)

  await t.test('is called for every attempt', async () => {
    const member = await calls.newMember()
    await calls.answer(member, member.factorId, member.app.wrongCode())
    const about = { user_id: member.id, factor_id: member.factorId, factor_type: 'totp' }
    assert.deepEqual(
      payloadsOf(name).map(({ metadata, ...rest }) => rest),
      [
        { ...about, valid: true },
        { ...about, valid: false },
      ],
    )
  })

  await t.test('may refuse an attempt, which ends all sessions', async () => {
    const member = await calls.newMember()
    await calls.signIn(member.email)
    const refused = await withReply(
      name,
      () => reject('Too often'),
      () => calls.answer(member, member.factorId, member.app.nextCode()),
    )
    assert.deepEqual(errorOf(refused), [403, 'mfa_verification_rejected', 'Too often'])
    assert.equal(await openSessions(server, member.id), 0)
    const who = { ...member, ...(await calls.signIn(member.email)) }
    const wrong = await withReply(
      name,
      () => reject(),
      () => calls.answer(who, member.factorId, member.app.wrongCode()),
    )
    assert.deepEqual(errorOf(wrong), [
      403,
      'mfa_verification_rejected',
      'Further MFA verification attempts will be rejected.',
    ])
    assert.equal(await openSessions(server, member.id), 0)
  })

  await t.test('is also called for recovery codes', async () => {
    const member = await calls.newMember()
    const path = '/factors/recovery-codes'
    const { body } = await send(server.url, path, { method: 'POST', token: member.token })
    const verify = async (reply: object, code: string) => {
      const who = { ...member, ...(await calls.signIn(member.email)) }
      const use = () => calls.call(who, `${path}/verify`, { code })
      return withReply(name, () => reply, use)
    }
    assert.equal((await verify({}, body.codes[0])).status, 200)
    const { metadata, ...payload } = payloadsOf(name).at(-1)
    assert.deepEqual(payload, {
      user_id: member.id,
      factor_id: body.id,
      factor_type: 'recovery_code',
      valid: true,
    })
    const refused = await verify(reject('No'), body.codes[1])
    assert.deepEqual(errorOf(refused), [403, 'mfa_verification_rejected', 'No'])
    assert.equal(await openSessions(server, member.id), 0)
    // Without a decision the raised session is ended.
    assert.equal((await verify({ status: 500 }, body.codes[2])).status, 500)
    assert.equal(await openSessions(server, member.id), 0)
  })
})
