/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hash as hashArgon2 } from '@node-rs/argon2'
import { hash as hashBcrypt } from '@node-rs/bcrypt'
import { errorOf, type FlowServer, openFlowServer } from '../support/flow-server.ts'
import { newEmail, password, send } from '../support/http-client.ts'
import { newPerson, type Person, signInByLink } from './people.ts'

const newPassword = 'a wholly new password'

test('changing a password', async (t) => {
  const server = await openFlowServer(t)
  if (!server) return
  const { url, post, query } = server
  const put = (token: string, body: object) => send(url, '/user', { method: 'PUT', body, token })
  const refresh = (token: string) =>
    post('/token?grant_type=refresh_token', { refresh_token: token })
  const signIn = (email: string, word: string) =>
    post('/token?grant_type=password', { email, password: word })

  await t.test(
    'changing a password ends the other sessions and every one-time token (property 25)',
    async () => {
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
    },
  )

  await t.test(
    'a password change by an administrator ends all sessions (property 25)',
    async () => {
      const { id, email } = await newPerson(server)
      const mine = await signInByLink(server, email)
      await send(url, `/admin/users/${id}`, {
        method: 'PUT',
        body: { password: newPassword },
        token: server.serviceToken,
      })
      assert.equal((await refresh(mine.refresh_token)).status, 400)
    },
  )
})

test('the reauthentication code for a password change (property 25)', async (t) => {
  const server = await openFlowServer(t, {
    AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_REAUTHENTICATION: 'true',
  })
  if (!server) return
  const { url, query } = server
  const put = (token: string, body: object) => send(url, '/user', { method: 'PUT', body, token })
  const refused = [422, 'reauthentication_not_valid'] as const
  const prepare = async () => {
    const person = await newPerson(server)
    const { access_token: token } = await signInByLink(server, person.email)
    await send(url, '/reauthenticate', { token })
    const [row] = await query('select payload from outbox where recipient = $1', [person.email])
    const nonce: string = row.payload.Token
    return { ...person, token, nonce }
  }
  const victim = await prepare()
  const attacker = await prepare()

  await t.test('the code of one user does not work for another', async () => {
    const body = { password: newPassword, nonce: attacker.nonce }
    assert.deepEqual(errorOf(await put(victim.token, body)).slice(0, 2), refused)
  })
  await t.test('the code is required, and does not sign in', async () => {
    const without = await put(victim.token, { password: newPassword })
    assert.deepEqual(errorOf(without).slice(0, 2), [400, 'reauthentication_needed'])
    for (const type of ['signup', 'recovery', 'magiclink', 'email', 'email_change']) {
      const body = { type, email: victim.email, token: victim.nonce }
      assert.equal((await send(url, '/verify', { body })).status, 403, type)
    }
  })
  await t.test('the code works once, also for concurrent requests', async () => {
    const body = { password: newPassword, nonce: victim.nonce }
    const answers = await Promise.all([1, 2, 3].map(() => put(victim.token, body)))
    const statuses = answers.map(({ status }) => status).sort()
    assert.deepEqual(statuses, [200, 422, 422])
    const again = await put(victim.token, { ...body, password: 'yet another password' })
    assert.deepEqual(errorOf(again).slice(0, 2), refused)
  })
  await t.test('the code expires', async () => {
    server.clock.aheadMs += 3_601_000
    const { access_token: token } = await signInByLink(server, attacker.email)
    const late = await put(token, { password: newPassword, nonce: attacker.nonce })
    assert.deepEqual(errorOf(late).slice(0, 2), refused)
  })
})

test('only the complete password signs in (property 63)', async (t) => {
  const server = await openFlowServer(t)
  if (!server) return
  const signIn = (email: string, word: string) =>
    server.post('/token?grant_type=password', { email, password: word })
  const refused = [400, 'invalid_credentials', 'Invalid login credentials']
  const hashers = {
    bcrypt: (word: string) => hashBcrypt(word, { cost: 4 }),
    argon2: (word: string) => hashArgon2(word, { memoryCost: 64, timeCost: 1 }),
  } as const
  const longest = 'x'.repeat(72)
  // Texts that bcrypt or UTF-8 decoding would treat as the same password.
  const alike: readonly (readonly [string, readonly string[]])[] = [
    [longest, [`${longest}x`, `${longest}\0`, 'x'.repeat(500_000)]],
    ['secret', ['secret\0secret', 'secret\0']],
    ['a\ufffdb and more', ['a\ud800b and more', 'a\udfffb and more']],
  ]
  for (const [format, toHash] of Object.entries(hashers)) {
    await t.test(
      `an imported hash accepts only the complete password, ${format} (property 63)`,
      async () => {
        for (const [word, others] of alike) {
          const { email } = await importUser(server, await toHash(word))
          for (const other of others) assert.deepEqual(errorOf(await signIn(email, other)), refused)
          assert.equal((await signIn(email, word)).status, 200)
          // The sign-in has replaced the imported hash.
          for (const other of others) assert.deepEqual(errorOf(await signIn(email, other)), refused)
          assert.equal((await signIn(email, word)).status, 200)
        }
        const { email } = await importUser(server, await toHash(`${longest}x`))
        assert.deepEqual(errorOf(await signIn(email, `${longest}x`)), refused)
      },
    )
  }

  await t.test(
    'only the complete current password allows setting a new one (property 63)',
    async () => {
      const { email } = await importUser(server, await hashers.bcrypt(longest))
      const { access_token: token } = (await signIn(email, longest)).body
      const put = (current: string) =>
        send(server.url, '/user', {
          method: 'PUT',
          body: { password: newPassword, current_password: current },
          token,
        })
      assert.equal(errorOf(await put(`${longest}x`))[1], 'current_password_invalid')
      assert.equal((await put(longest)).status, 200)
    },
  )

  await t.test(
    'a new password that other passwords would match is refused (property 63)',
    async () => {
      for (const word of ['secret\0one', 'a half \ud800']) {
        const answer = await server.post('/signup', { email: newEmail(), password: word })
        assert.deepEqual(errorOf(answer), [
          400,
          'validation_failed',
          'Password has a character that cannot be stored',
        ])
      }
    },
  )
})

async function importUser({ url, serviceToken: token }: FlowServer, hash: string): Promise<Person> {
  const email = newEmail()
  const fields = { email, email_confirm: true, password_hash: hash }
  const { status, body } = await send(url, '/admin/users', { body: fields, token })
  assert.equal(status, 200)
  return { id: body.id, email }
}
