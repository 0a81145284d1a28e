/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorOf, openFlowServer } from '../support/flow-server.ts'
import { newEmail, password, send } from '../support/http-client.ts'
import { newPerson, signInByLink } from './people.ts'

test('deleted users', async (t) => {
  const server = await openFlowServer(t, { AUTH_TRUSTED_HOPS: '1' })
  if (!server) return
  const { url, post, query, serviceToken } = server
  const remove = (id: string, body: object = {}) =>
    send(url, `/admin/users/${id}`, { method: 'DELETE', body, token: serviceToken })
  /** All rows of the schema, in whatever tables exist. */
  const dump = async () => {
    const tables = await query(
      `select table_name as name from information_schema.tables
       where table_schema = current_schema() and table_type = 'BASE TABLE'`,
    )
    assert.ok(tables.length >= 9)
    const rows = []
    for (const { name } of tables) {
      rows.push(`${name}: ${JSON.stringify(await query(`select * from ${name}`))}`)
    }
    return rows
  }
  const columns = async () =>
    await query(
      `select table_name as name from information_schema.columns
       where table_schema = current_schema() and column_name = 'user_id'`,
    )

  await t.test(
    'a deleted user has no session, token or identity and cannot sign in (property 36)',
    async () => {
      const { id, email } = await newPerson(server)
      const tokens = await signInByLink(server, email)
      await query('update users set recovery_sent_at = null where id = $1', [id])
      const challenge = { code_challenge: 'c'.repeat(43), code_challenge_method: 'plain' }
      await post('/recover', { email, ...challenge })
      const mail = await server.mailTo(email)
      const tables = await columns()
      assert.ok(tables.length >= 4)
      const count = async () => {
        let rows = 0
        for (const { name } of tables) {
          rows += (await query(`select from ${name} where user_id = $1`, [id])).length
        }
        return rows
      }
      assert.ok((await count()) >= 4)
      assert.equal((await remove(id)).status, 200)
      assert.equal(await count(), 0)
      const gone = [403, 'user_not_found']
      const { access_token: token, refresh_token } = tokens
      const calls = [
        send(url, '/user', { token }),
        send(url, '/user', { method: 'PUT', body: { data: {} }, token }),
        send(url, '/reauthenticate', { token }),
        send(url, '/logout', { method: 'POST', token }),
      ]
      for (const answer of await Promise.all(calls)) {
        assert.deepEqual(errorOf(answer).slice(0, 2), gone)
      }
      const refreshed = await post('/token?grant_type=refresh_token', { refresh_token })
      assert.equal(refreshed.status, 400)
      const verified = await post('/verify', { type: 'recovery', email, token: mail.code })
      assert.equal(verified.status, 403)
      assert.match((await send(url, mail.path)).headers.get('location') ?? '', /otp_expired/)
    },
  )

  await t.test('after a soft deletion no table has personal data (property 40)', async () => {
    const secrets = {
      email: `zelda.${crypto.randomUUID()}@example.org`,
      firstWish: `wish1.${crypto.randomUUID()}@example.org`,
      secondWish: `wish2.${crypto.randomUUID()}@example.org`,
      phone: '15550123987',
      name: 'Zelda Fitzgerald',
      company: 'Tender Night Ltd',
      address: '2001:db8::dead:beef',
      device: 'Zelda-Phone/1.0',
    }
    const { email, firstWish, secondWish, name, company, phone } = secrets
    const headers = { 'x-forwarded-for': secrets.address, 'user-agent': secrets.device }
    const post = (path: string, body: object) => send(url, path, { body, headers })
    await post('/signup', { email, password, data: { full_name: name } })
    await post('/verify', { type: 'signup', email, token: (await server.mailTo(email)).code })
    const { body: login } = await post('/token?grant_type=password', { email, password })
    const { id } = login.user
    await send(url, `/admin/users/${id}`, {
      method: 'PUT',
      body: { phone, app_metadata: { company } },
      token: serviceToken,
      headers,
    })
    const put = (body: object) =>
      send(url, '/user', { method: 'PUT', body, token: login.access_token, headers })
    // Two email changes are pending, and their messages have not been sent yet.
    assert.equal((await put({ email: firstWish })).status, 200)
    server.clock.aheadMs += 901_000
    assert.equal((await put({ email: secondWish, data: { motto: name } })).status, 200)
    await post('/recover', {
      email,
      code_challenge: 'c'.repeat(43),
      code_challenge_method: 'plain',
    })
    await send(url, '/reauthenticate', { token: login.access_token, headers })
    await post('/token?grant_type=refresh_token', { refresh_token: login.refresh_token })
    await post('/signup', { email, password: 'another', data: { full_name: name } })
    await send(url, '/admin/generate_link', {
      body: { type: 'recovery', email },
      token: serviceToken,
      headers,
    })
    const before = (await dump()).join('\n')
    for (const secret of Object.values(secrets)) assert.ok(before.includes(secret), secret)

    assert.equal((await remove(id, { should_soft_delete: true })).status, 200)
    for (const rows of await dump()) {
      for (const [what, secret] of Object.entries(secrets)) {
        assert.ok(!rows.includes(secret), `${what} in ${rows.slice(0, 2_000)}`)
      }
      assert.doesNotMatch(rows, /\$2[aby]\$\d\d\$/, 'the password hash')
    }
    assert.equal((await post('/token?grant_type=password', { email, password })).status, 400)

    // The cooldown for a new user of the address is the usual one.
    server.clock.aheadMs += 901_000
    const again = await post('/signup', { email, password })
    assert.equal(again.status, 200)
    const { code } = await server.mailTo(email)
    const verified = await post('/verify', { type: 'signup', email, token: code })
    assert.equal(verified.body.user.email, email)
    assert.notEqual(verified.body.user.id, id)
    assert.equal(verified.body.user.user_metadata.full_name, undefined)
    const other = await send(url, `/admin/users/${(await newPerson(server)).id}`, {
      method: 'PUT',
      body: { phone, email: newEmail() },
      token: serviceToken,
    })
    assert.equal(other.status, 200)
  })
})
