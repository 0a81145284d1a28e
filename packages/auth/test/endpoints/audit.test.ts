/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openFlowServer } from '../support/flow-server.ts'
import { ask, newEmail, password } from '../support/http-client.ts'

test('GET /admin/audit', async (t) => {
  const server = await openFlowServer(t, { AUTH_TRUSTED_HOPS: '1' })
  if (!server) return
  const { url, query, serviceToken: token } = server
  const audit = (search = '') => ask(url, `/admin/audit${search}`, { token })
  const { id, email } = await server.newUser()
  const login = await server.post(
    '/token?grant_type=password',
    { email, password },
    { 'x-forwarded-for': '203.0.113.5' },
  )
  await ask(url, '/user', { method: 'PUT', token: login.body.access_token, body: { data: {} } })
  await ask(url, '/admin/users', { token, body: { email: newEmail() } })
  const actions = (body: readonly { readonly payload: { readonly action: string } }[]) =>
    body.map(({ payload }) => payload.action)

  await t.test('shows entries, the newest first', async () => {
    server.takeStatements()
    const { status, body, headers } = await audit()
    assert.equal(status, 200)
    assert.deepEqual(server.takeStatements(), ['list_audit_entries_all'])
    assert.deepEqual(actions(body), [
      'user_signedup',
      'user_modified',
      'login',
      'user_confirmation_requested',
    ])
    assert.equal(headers.get('x-total-count'), '4')
    const entry = body[2]
    assert.deepEqual(Object.keys(entry).toSorted(), ['created_at', 'id', 'ip_address', 'payload'])
    assert.equal(entry.ip_address, '203.0.113.5')
    assert.match(entry.created_at, /^\d{4}-\d\d-\d\dT.*Z$/)
    const { traits: _, ...payload } = entry.payload
    assert.deepEqual(payload, {
      actor_id: id,
      actor_via_sso: false,
      actor_username: email,
      action: 'login',
      log_type: 'account',
    })
  })

  await t.test('page by page', async () => {
    const { body, headers } = await audit('?page=2&per_page=3')
    assert.deepEqual(actions(body), ['user_confirmation_requested'])
    assert.equal(headers.get('link'), '</admin/audit?page=2&per_page=3>; rel="last"')
    const first = await audit('?per_page=3')
    assert.equal(
      first.headers.get('link'),
      '</admin/audit?page=2&per_page=3>; rel="next", </admin/audit?page=2&per_page=3>; rel="last"',
    )
    const beyond = await audit('?page=9')
    assert.deepEqual([beyond.body, beyond.headers.get('x-total-count')], [[], '4'])
  })

  await t.test(
    'searches authors, actions and types, and takes wildcards for what they are',
    async () => {
      const found = async (search: string) =>
        actions((await audit(`?${new URLSearchParams({ query: search })}`)).body)
      assert.deepEqual(await found(`author:${email.toUpperCase()}`), [
        'user_modified',
        'login',
        'user_confirmation_requested',
      ])
      assert.deepEqual(await found('author:service'), ['user_signedup'])
      assert.deepEqual(await found('action:LOG'), ['login'])
      assert.deepEqual(await found('type:team'), ['user_signedup'])
      assert.deepEqual(await found('action:user_'), [
        'user_signedup',
        'user_modified',
        'user_confirmation_requested',
      ])
      assert.deepEqual(await found('action:%'), [])
      assert.deepEqual(await found('action:log_n'), [])
      await query(
        `insert into audit_log_entries (id, payload) values (gen_random_uuid(),
         '{"action": "odd", "actor_id": "00000000-0000-0000-0000-000000000000", "actor_name": "A_b%"}')`,
      )
      assert.deepEqual(await found('author:a_b%'), ['odd'])
    },
  )

  await t.test('finds what happened to a user, whoever did it', async () => {
    const changed = { method: 'PUT', token, body: { user_metadata: { a: 1 } } }
    assert.equal((await ask(url, `/admin/users/${id}`, changed)).status, 200)
    server.takeStatements()
    const { body, headers } = await audit(`?query=user:${id.toUpperCase()}&per_page=2`)
    assert.deepEqual(server.takeStatements(), ['list_audit_entries_user'])
    assert.deepEqual(
      body.map((entry: { payload: Record<string, string> }) => [
        entry.payload['action'],
        entry.payload['actor_username'],
      ]),
      [
        ['user_modified', 'service_role'],
        ['user_modified', email],
      ],
    )
    assert.equal(headers.get('x-total-count'), '4')
    assert.match(headers.get('link') ?? '', /[?&]query=user%3A/)
    const stranger = await audit('?query=user:00000000-0000-4000-8000-000000000000')
    assert.deepEqual([stranger.status, stranger.body], [200, []])
    const bad = await audit('?query=user:me')
    assert.equal(bad.status, 400)
    assert.equal(bad.body.msg, 'Invalid query: "me" is not the id of a user')
  })

  await t.test('refuses another scope', async () => {
    for (const wanted of ['name:x', 'login', 'toString:x', ':x']) {
      const { status, body } = await audit(`?${new URLSearchParams({ query: wanted })}`)
      assert.deepEqual(
        [status, body.error_code, body.msg],
        [400, 'validation_failed', `Invalid query scope: ${wanted}`],
      )
    }
    const bad = await audit('?page=x')
    assert.match(bad.body.msg, /^Bad Pagination Parameters: /)
  })
})
