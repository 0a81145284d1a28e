/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorOf, openFlowServer } from '../support/flow-server.ts'
import { ask, password } from '../support/http-client.ts'
import { newPerson, signInByLink } from './people.ts'

const newPassword = 'a wholly new password'

test('a change of password', async (t) => {
  const server = await openFlowServer(t)
  if (!server) return
  const { url, post, query } = server
  const put = (token: string, body: object) => ask(url, '/user', { method: 'PUT', body, token })
  const refresh = (token: string) =>
    post('/token?grant_type=refresh_token', { refresh_token: token })
  const signIn = (email: string, word: string) =>
    post('/token?grant_type=password', { email, password: word })

  await t.test('18.25 ends the other sessions and every one-time token', async () => {
    const { id, email } = await server.newUser()
    const bystander = await newPerson(server)
    const theirs = await signInByLink(server, bystander.email)
    const mine = (await signIn(email, password)).body
    const other = await signInByLink(server, email)
    await query('update users set recovery_sent_at = null')
    await post('/recover', { email })
    await post('/recover', { email: bystander.email })
    await put(mine.access_token, { email: `new-${email}` })
    const changed = await put(mine.access_token, { password: newPassword })
    assert.equal(changed.status, 200)
    assert.equal((await refresh(mine.refresh_token)).status, 200)
    assert.deepEqual(errorOf(await refresh(other.refresh_token)).slice(0, 2), [
      400,
      'session_not_found',
    ])
    assert.equal((await put(other.access_token, { data: { a: 1 } })).status, 403)
    assert.deepEqual(await query('select * from one_time_tokens where user_id = $1', [id]), [])
    assert.equal(
      (await query('select * from one_time_tokens where user_id = $1', [bystander.id])).length,
      1,
    )
    assert.equal((await refresh(theirs.refresh_token)).status, 200)
    assert.equal((await signIn(email, password)).body.error_code, 'invalid_credentials')
    assert.equal((await signIn(email, newPassword)).status, 200)
  })

  await t.test('18.25 an administrator ends all sessions with it', async () => {
    const { id, email } = await newPerson(server)
    const mine = await signInByLink(server, email)
    await ask(url, `/admin/users/${id}`, {
      method: 'PUT',
      body: { password: newPassword },
      token: server.serviceToken,
    })
    assert.equal((await refresh(mine.refresh_token)).status, 400)
  })
})

test('18.25 the code of a change of password', async (t) => {
  const server = await openFlowServer(t, {
    AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_REAUTHENTICATION: 'true',
  })
  if (!server) return
  const { url, query } = server
  const put = (token: string, body: object) => ask(url, '/user', { method: 'PUT', body, token })
  const refused = [422, 'reauthentication_not_valid'] as const
  const prepare = async () => {
    const person = await newPerson(server)
    const { access_token: token } = await signInByLink(server, person.email)
    await ask(url, '/reauthenticate', { token })
    const [row] = await query('select payload from outbox where recipient = $1', [person.email])
    const nonce: string = row.payload.Token
    return { ...person, token, nonce }
  }
  const victim = await prepare()
  const attacker = await prepare()

  await t.test('of one user does nothing for another', async () => {
    const body = { password: newPassword, nonce: attacker.nonce }
    assert.deepEqual(errorOf(await put(victim.token, body)).slice(0, 2), refused)
  })
  await t.test('is needed, and is no sign-in', async () => {
    const without = await put(victim.token, { password: newPassword })
    assert.deepEqual(errorOf(without).slice(0, 2), [400, 'reauthentication_needed'])
    for (const type of ['signup', 'recovery', 'magiclink', 'email', 'email_change']) {
      const body = { type, email: victim.email, token: victim.nonce }
      assert.equal((await ask(url, '/verify', { body })).status, 403, type)
    }
  })
  await t.test('works once, also for many at once', async () => {
    const body = { password: newPassword, nonce: victim.nonce }
    const answers = await Promise.all([1, 2, 3].map(() => put(victim.token, body)))
    const statuses = answers.map(({ status }) => status).sort()
    assert.deepEqual(statuses, [200, 422, 422])
    const again = await put(victim.token, { ...body, password: 'yet another password' })
    assert.deepEqual(errorOf(again).slice(0, 2), refused)
  })
  await t.test('ends with its time', async () => {
    server.clock.aheadMs += 3_601_000
    const { access_token: token } = await signInByLink(server, attacker.email)
    const late = await put(token, { password: newPassword, nonce: attacker.nonce })
    assert.deepEqual(errorOf(late).slice(0, 2), refused)
  })
})
