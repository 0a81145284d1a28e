/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { newAccount, openExternalServer } from '../support/external-server.ts'
import {
  errorOf,
  type FlowServer,
  fragmentOf,
  openFlowServer,
  queryOf,
} from '../support/flow-server.ts'
import { newEmail, send } from '../support/http-client.ts'
import { link } from '../support/linking.ts'
import { newPerson, signInByLink } from './people.ts'

const changed = 'Confirmation link accepted. The email address has been changed'
const verifier = 'v'.repeat(64)

/** An attacker requests a change to the address of another person. */
async function openChange(server: FlowServer, more: object = {}) {
  const attacker = await newPerson(server)
  const { access_token: token } = await signInByLink(server, attacker.email)
  const victim = newEmail()
  await send(server.url, '/user', { method: 'PUT', body: { email: victim, ...more }, token })
  return { ...attacker, victim, token }
}

async function sessionsOf({ query }: FlowServer, id: string): Promise<number> {
  return (await query('select 1 from sessions where user_id = $1', [id])).length
}

async function signInTimeOf({ query }: FlowServer, id: string): Promise<unknown> {
  const [user] = await query('select last_sign_in_at from users where id = $1', [id])
  return user.last_sign_in_at
}

test('confirming an address for the account of another person does not sign in to it (property 61)', async (t) => {
  const server = await openFlowServer(t, { AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true' })
  if (!server) return
  const { url, post } = server

  await t.test('with the link, after the other address was confirmed (property 61)', async () => {
    const { id, email, victim } = await openChange(server)
    const { token } = await server.mailTo(email)
    await post('/verify', { type: 'email_change', token_hash: token })
    const [before, since] = [await sessionsOf(server, id), await signInTimeOf(server, id)]
    const followed = await send(url, (await server.mailTo(victim)).path)
    assert.deepEqual(fragmentOf(followed), { message: changed, sb: '' })
    assert.deepEqual(queryOf(followed), {})
    assert.equal(await sessionsOf(server, id), before)
    assert.deepEqual(await signInTimeOf(server, id), since)
  })

  await t.test('with the token of the link, sent by a page (property 61)', async () => {
    for (const field of ['token_hash', 'token']) {
      const { id, email, victim } = await openChange(server)
      const current = await server.mailTo(email)
      await post('/verify', { type: 'email_change', token_hash: current.token })
      const before = await sessionsOf(server, id)
      const { token } = await server.mailTo(victim)
      const { body } = await post('/verify', { type: 'email_change', [field]: token })
      assert.deepEqual(body, { code: '200', msg: changed })
      assert.equal(await sessionsOf(server, id), before)
    }
  })

  await t.test('for an anonymous account (property 61)', async () => {
    const { body } = await post('/signup', {})
    const victim = newEmail()
    const change = { email: victim }
    await send(url, '/user', { method: 'PUT', body: change, token: body.access_token })
    const followed = await send(url, (await server.mailTo(victim)).path)
    assert.deepEqual(fragmentOf(followed), { message: changed, sb: '' })
    assert.equal(await sessionsOf(server, body.user.id), 1)
  })

  await t.test('with the code of a PKCE flow, which needs the verifier (property 61)', async () => {
    const { id, email, victim } = await openChange(server, {
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 's256',
    })
    await send(url, (await server.mailTo(email)).path)
    const before = await sessionsOf(server, id)
    const { code = '' } = queryOf(await send(url, (await server.mailTo(victim)).path))
    const exchange = (code_verifier: string) =>
      post('/token?grant_type=pkce', { auth_code: code, code_verifier })
    assert.equal(errorOf(await exchange('w'.repeat(64)))[1], 'bad_code_verifier')
    assert.equal(await sessionsOf(server, id), before)
    assert.equal((await exchange(verifier)).status, 200)
  })

  await t.test(
    'the account owner is signed in by the current mailbox or by typing the code (property 61)',
    async () => {
      const owner = await openChange(server)
      await send(url, (await server.mailTo(owner.victim)).path)
      const fragment = fragmentOf(await send(url, (await server.mailTo(owner.email)).path))
      assert.ok(fragment['access_token'])
      const typing = await openChange(server)
      await send(url, (await server.mailTo(typing.email)).path)
      const { code } = await server.mailTo(typing.victim)
      const proof = { type: 'email_change', email: typing.victim, token: code }
      assert.ok((await post('/verify', proof)).body.access_token)
    },
  )
})

test('the same holds if one confirmation is enough (property 61)', async (t) => {
  const server = await openFlowServer(t, { AUTH_MAILER_SECURE_EMAIL_CHANGE_ENABLED: 'false' })
  if (!server) return
  const { id, victim } = await openChange(server)
  const before = await sessionsOf(server, id)
  const followed = await send(server.url, (await server.mailTo(victim)).path)
  assert.deepEqual(fragmentOf(followed), { message: changed, sb: '' })
  assert.equal(await sessionsOf(server, id), before)
})

test('the same holds for an unverified address of a linked identity (property 61)', async (t) => {
  const server = await openExternalServer(t, ['keycloak'], {
    AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'true',
    AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
  })
  if (!server) return
  const { body } = await server.post('/signup', {})
  const account = newAccount({ email_verified: false })
  const answer = await link(server, body.access_token, account)
  assert.equal(errorOf(answer)[1], 'email_not_confirmed')
  // The address stays available to its owner until it is confirmed.
  assert.deepEqual(await server.query('select 1 from users where email = $1', [account.email]), [])
  const followed = await send(server.url, (await server.mailTo(account.email)).path)
  assert.deepEqual(fragmentOf(followed), { message: changed, sb: '' })
  assert.equal(await sessionsOf(server, body.user.id), 1)
  const [user] = await server.query('select email from users where id = $1', [body.user.id])
  assert.equal(user.email, account.email)
})
