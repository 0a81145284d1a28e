/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openAuthServer } from '../support/auth-server.ts'
import { errorOf, openFlowServer } from '../support/flow-server.ts'
import { newEmail, password, send } from '../support/http-client.ts'
import { newPerson, signInByLink } from './people.ts'

test('refresh tokens', async (t) => {
  const server = await openFlowServer(t)
  if (!server) return
  const { url, query } = server
  const refresh = (token: string, at = url) =>
    send(at, '/token?grant_type=refresh_token', { body: { refresh_token: token } })
  const { email, id } = await newPerson(server)
  const signIn = (address = email) => signInByLink(server, address)
  const used = [400, 'refresh_token_already_used', 'Invalid Refresh Token: Already Used'] as const
  const ended = [400, 'session_not_found', 'Invalid Refresh Token: No Valid Session Found'] as const

  await t.test(
    'the previous token returns the same token in the interval (property 12)',
    async () => {
      const { refresh_token: first } = await signIn()
      const { body: rotated } = await refresh(first)
      server.clock.aheadMs += 9_000
      const { body: again } = await refresh(first)
      assert.notEqual(rotated.refresh_token, first)
      assert.equal(again.refresh_token, rotated.refresh_token)
      assert.equal((await refresh(rotated.refresh_token)).status, 200)
    },
  )

  await t.test('later the previous token ends the whole family (property 12)', async () => {
    const { refresh_token: first } = await signIn()
    const { body: rotated } = await refresh(first)
    server.clock.aheadMs += 10_001
    assert.deepEqual(errorOf(await refresh(first)), used)
    assert.deepEqual(errorOf(await refresh(rotated.refresh_token)), ended)
    assert.deepEqual(errorOf(await refresh(first)), ended)
    const entries = await query(
      `select payload -> 'traits' ->> 'reason' as reason from audit_log_entries
       where payload ->> 'action' = 'token_revoked' and payload ->> 'actor_id' = $1`,
      [id],
    )
    assert.deepEqual(
      entries,
      [{ reason: 'refresh_token_already_used' }],
      'the audit log records it once',
    )
  })

  await t.test('an older token ends the family at any time (property 12)', async () => {
    const { refresh_token: first } = await signIn()
    const { body: second } = await refresh(first)
    const { body: third } = await refresh(second.refresh_token)
    assert.deepEqual(errorOf(await refresh(first)), used)
    assert.deepEqual(errorOf(await refresh(third.refresh_token)), ended)
    assert.deepEqual(errorOf(await refresh(second.refresh_token)), ended)
  })

  await t.test(
    'an ended family does not affect other sessions of the user (property 12)',
    async () => {
      const { refresh_token: first } = await signIn()
      const { refresh_token: other } = await signIn()
      await refresh((await refresh(first)).body.refresh_token)
      await refresh(first)
      assert.equal((await refresh(other)).status, 200)
    },
  )

  await t.test('tampered tokens are refused and end nothing (property 12)', async () => {
    const { refresh_token: token } = await signIn()
    const bytes = Buffer.from(token, 'base64url')
    const missing = [400, 'refresh_token_not_found']
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes)
      changed.writeUInt8(changed.readUInt8(at) ^ 1, at)
      const answer = await refresh(changed.toString('base64url'))
      assert.deepEqual(errorOf(answer).slice(0, 2), missing, `byte ${at}`)
    }
    for (const text of ['', 'x', `${token}A`, token.slice(1), `${token}\0`, token.toUpperCase()]) {
      assert.deepEqual(errorOf(await refresh(text)).slice(0, 2), missing, text)
    }
    assert.equal((await refresh(token)).status, 200)
  })

  await t.test('fifty concurrent refreshes on two servers rotate once (property 13)', async (t) => {
    const second = await openAuthServer(t, {
      env: { AUTH_MAILER_AUTOCONFIRM: 'true' },
      database: { url: server.databaseUrl, schema: server.schema },
      clock: server.clock,
    })
    if (!second) return
    const { refresh_token: token } = await signIn()
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) => refresh(token, at % 2 === 0 ? url : second.url)),
    )
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
    const children = new Set(answers.map(({ body }) => body.refresh_token))
    assert.equal(children.size, 1)
    const [row] = await query(
      `select refresh_token_counter as counter, id from sessions
       where user_id = $1 order by created_at desc limit 1`,
      [id],
    )
    assert.equal(row.counter, 1)
    const rotations = await query(
      `select 1 from audit_log_entries
       where payload ->> 'action' = 'token_refreshed' and payload #>> '{traits,session_id}' = $1`,
      [row.id],
    )
    assert.equal(rotations.length, 1)
    for (const { body } of answers.slice(0, 4)) {
      assert.equal((await send(second.url, '/user', { token: body.access_token })).status, 200)
    }
    assert.equal((await refresh([...children][0] ?? '', second.url)).status, 200)
  })

  await t.test(
    'each scope of a logout ends only the sessions that it names (property 14)',
    async () => {
      const scopes = {
        '?scope=local': { own: 400, other: 200 },
        '?scope=others': { own: 200, other: 400 },
        '?scope=global': { own: 400, other: 400 },
        '': { own: 400, other: 400 },
      } as const
      const otherUser = await newPerson(server)
      for (const [scope, { own, other }] of Object.entries(scopes)) {
        const mine = await signIn()
        const elsewhere = await signIn()
        const otherSession = await signIn(otherUser.email)
        const { status } = await send(url, `/logout${scope}`, {
          method: 'POST',
          token: mine.access_token,
        })
        assert.equal(status, 204)
        assert.equal((await refresh(mine.refresh_token)).status, own, `own, ${scope}`)
        assert.equal((await refresh(elsewhere.refresh_token)).status, other, `other, ${scope}`)
        assert.equal(
          (await refresh(otherSession.refresh_token)).status,
          200,
          `other user, ${scope}`,
        )
        const changed = await send(url, '/user', {
          method: 'PUT',
          body: { data: { a: 1 } },
          token: mine.access_token,
        })
        assert.equal(changed.status, own === 200 ? 200 : 403, `PUT /user, ${scope}`)
      }
      const bad = await send(url, '/logout?scope=everybody', {
        method: 'POST',
        token: (await signIn()).access_token,
      })
      assert.equal(bad.status, 400)
    },
  )

  await t.test('the token of another user cannot log a user out (property 14)', async () => {
    const otherUser = await signIn((await newPerson(server)).email)
    const mine = await signIn()
    const [, claims = ''] = mine.access_token.split('.')
    const { session_id: session } = JSON.parse(Buffer.from(claims, 'base64url').toString())
    for (const path of ['/logout', `/logout?session_id=${session}&user_id=${id}`]) {
      await send(url, path, {
        method: 'POST',
        token: otherUser.access_token,
        body: { id, session },
      })
    }
    assert.equal((await refresh(mine.refresh_token)).status, 200)
  })

  await t.test('a token from another database is refused (property 12)', async (t) => {
    const other = await openAuthServer(t)
    if (!other) return
    const body = { email: newEmail(), password }
    const foreign = (await send(other.url, '/signup', { body })).body.refresh_token
    const answer = await refresh(foreign)
    assert.deepEqual(errorOf(answer).slice(0, 2), [400, 'refresh_token_not_found'])
  })
})
