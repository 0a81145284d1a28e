/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type FlowServer, openFlowServer } from '../../support/flow-server.ts'
import { newEmail, password, send } from '../../support/http-client.ts'

/** Creates a user with data in every table that can refer to a user. */
async function createUserWithData(server: FlowServer) {
  const { post, query, url, serviceToken } = server
  const { id, email } = await server.newUser()
  const name = `Person ${id}`
  const ip = `2001:db8::a${id.slice(0, 3)}:b${id.slice(4, 7)}`
  const headers = { 'x-forwarded-for': ip }
  const phone = `1666${Math.floor(Math.random() * 1e7)}`
  await send(url, `/admin/users/${id}`, {
    method: 'PUT',
    token: serviceToken,
    body: { phone, user_metadata: { full_name: name }, app_metadata: { company: name } },
  })
  const login = await post('/token?grant_type=password', { email, password }, headers)
  const wanted = newEmail()
  const token: string = login.body.access_token
  await send(url, '/user', {
    method: 'PUT',
    token,
    headers,
    body: { email: wanted, code_challenge: 'a'.repeat(43), code_challenge_method: 'plain' },
  })
  await post('/recover', { email }, headers)
  await query(
    `insert into identities (id, user_id, provider, provider_id, identity_data)
     values (gen_random_uuid(), $1::uuid, 'google', 'g-' || $1::uuid, jsonb_build_object('email', $2::text))`,
    [id, email],
  )
  const refreshToken: string = login.body.refresh_token
  return { id, email, wanted, phone, name, ip, token, refreshToken }
}

/** Lists the tables that contain a text in any column. */
async function findText({ query }: FlowServer, text: string): Promise<readonly string[]> {
  const tables = await query(
    `select table_name as name from information_schema.tables
     where table_schema = current_schema() and table_type = 'BASE TABLE'`,
  )
  const found: string[] = []
  for (const { name } of tables) {
    const rows = await query(`select from ${name} r where strpos(r::text, $1) > 0 limit 1`, [text])
    if (rows.length > 0) found.push(name)
  }
  return found.toSorted()
}

test('DELETE /admin/users/{user_id}', async (t) => {
  const server = await openFlowServer(t, { AUTH_TRUSTED_HOPS: '1' })
  if (!server) return
  const { url, post, serviceToken: token } = server
  const remove = (id: string, body?: object) =>
    send(url, `/admin/users/${id}`, { method: 'DELETE', token, body })

  const checkGone = async (
    {
      id,
      email,
      wanted,
      phone,
      name,
      ip,
      ...tokens
    }: Awaited<ReturnType<typeof createUserWithData>>,
    idStaysIn: readonly string[],
  ) => {
    for (const text of [email, wanted, phone, name, ip]) {
      assert.deepEqual(await findText(server, text), [], text)
    }
    assert.deepEqual(await findText(server, id), idStaysIn)
    const user = await send(url, '/user', { token: tokens.token })
    assert.deepEqual([user.status, user.body.error_code], [403, 'user_not_found'])
    const refreshed = await post('/token?grant_type=refresh_token', {
      refresh_token: tokens.refreshToken,
    })
    assert.deepEqual([refreshed.status, refreshed.body.error_code], [400, 'session_not_found'])
    const login = await post('/token?grant_type=password', { email, password })
    assert.equal(login.body.error_code, 'invalid_credentials')
  }

  await t.test('removes a user with all rows that refer to them, in one statement', async () => {
    const [trace, bystander] = [await createUserWithData(server), await createUserWithData(server)]
    assert.ok((await findText(server, trace.email)).length >= 5)
    server.takeStatements()
    const { status, body } = await remove(trace.id)
    assert.deepEqual([status, body], [200, {}])
    assert.deepEqual(server.takeStatements(), ['delete_user'])
    // Revocations are deleted when all access tokens have expired.
    await checkGone(trace, ['audit_log_entries', 'revocations'])
    assert.equal((await send(url, `/admin/users/${trace.id}`, { token })).status, 404)
    assert.equal((await remove(trace.id)).status, 404)
    assert.equal((await send(url, '/user', { token: bystander.token })).status, 200)
    assert.ok((await findText(server, bystander.email)).includes('audit_log_entries'))
    const [entry] = await server.query(
      "select payload from audit_log_entries where payload ->> 'action' = 'user_deleted'",
    )
    assert.deepEqual(entry.payload.traits, { user_id: trace.id })
    assert.equal(entry.payload.actor_username, 'service_role')
    await remove(bystander.id)
  })

  await t.test('soft deletion keeps the id and removes all personal data', async () => {
    const trace = await createUserWithData(server)
    await server.untilAnswered()
    server.takeStatements()
    const { status, body } = await remove(trace.id, { should_soft_delete: true })
    assert.deepEqual([status, body], [200, {}])
    assert.deepEqual(server.takeStatements(), ['soft_delete_user'])
    await checkGone(trace, ['audit_log_entries', 'identities', 'revocations', 'users'])
    const { body: user } = await send(url, `/admin/users/${trace.id}`, { token })
    assert.ok(user.deleted_at)
    assert.match(user.email, /^[\da-f]{64}$/)
    assert.match(user.phone, /^[\da-f]{64}$/)
    assert.deepEqual([user.user_metadata, user.app_metadata], [{}, {}])
    assert.equal(user.identities.length, 3)
    for (const identity of user.identities) {
      assert.match(identity.id, /^[\da-f]{64}$/)
      assert.deepEqual(identity.identity_data, {})
    }
    const update = { method: 'PUT', token, body: { email: newEmail() } }
    assert.equal((await send(url, `/admin/users/${trace.id}`, update)).status, 404)
    const again = await post('/signup', { email: trace.email, password })
    assert.equal(again.status, 200)
    assert.notEqual(again.body.id, trace.id)
    const { body: fresh } = await send(url, `/admin/users/${again.body.id}`, { token })
    assert.equal(fresh.email, trace.email)
    assert.equal((await remove(trace.id, { should_soft_delete: true })).status, 200)
    assert.equal((await remove(trace.id, { should_soft_delete: false })).status, 200)
    assert.equal((await send(url, `/admin/users/${trace.id}`, { token })).status, 404)
  })

  await t.test('accepts the empty body of the client; the flag must be a boolean', async () => {
    const { id } = await server.newUser()
    const odd = await remove(id, { should_soft_delete: 'yes' })
    assert.deepEqual([odd.status, odd.body.error_code], [400, 'bad_json'])
    assert.equal((await remove(id, {})).status, 200)
  })
})
