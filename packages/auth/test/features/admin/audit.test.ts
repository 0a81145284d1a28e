/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseConfig } from '../../../src/config/config.ts'
import { testEnvironment } from '../../support/auth-server.ts'
import { type FlowServer, openFlowServer } from '../../support/flow-server.ts'
import { newEmail, password, send } from '../../support/http-client.ts'

test('GET /admin/audit', async (t) => {
  const server = await openFlowServer(t, { AUTH_TRUSTED_HOPS: '1' })
  if (!server) return
  const { url, query, serviceToken: token } = server
  const audit = (search = '') => send(url, `/admin/audit${search}`, { token })
  const { id, email } = await server.newUser()
  const login = await server.post(
    '/token?grant_type=password',
    { email, password },
    { 'x-forwarded-for': '203.0.113.5' },
  )
  await send(url, '/user', { method: 'PUT', token: login.body.access_token, body: { data: {} } })
  await send(url, '/admin/users', { token, body: { email: newEmail() } })
  const actions = (body: readonly { readonly payload: { readonly action: string } }[]) =>
    body.map(({ payload }) => payload.action)

  await t.test('lists entries, newest first', async () => {
    server.takeStatements()
    const { status, body, headers } = await audit()
    assert.equal(status, 200)
    assert.deepEqual(server.takeStatements(), ['list_audit_entries'])
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
    const { traits: _, user_agent: agent, request_id: requestId, ...payload } = entry.payload
    assert.deepEqual([typeof agent, typeof requestId], ['string', 'string'])
    assert.deepEqual(payload, {
      actor_id: id,
      actor_via_sso: false,
      actor_username: email,
      action: 'login',
      log_type: 'account',
    })
  })

  await t.test('is paginated', async () => {
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
    'searches by author, action and type, and matches wildcard characters literally',
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

  await t.test('finds every entry about a user, regardless of who caused it', async () => {
    const changed = { method: 'PUT', token, body: { user_metadata: { a: 1 } } }
    assert.equal((await send(url, `/admin/users/${id}`, changed)).status, 200)
    server.takeStatements()
    const { body, headers } = await audit(`?query=user:${id.toUpperCase()}&per_page=2`)
    assert.deepEqual(server.takeStatements(), ['list_user_audit_entries'])
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
    const unknown = await audit('?query=user:00000000-0000-4000-8000-000000000000')
    assert.deepEqual([unknown.status, unknown.body], [200, []])
    const bad = await audit('?query=user:me')
    assert.equal(bad.status, 400)
    assert.equal(bad.body.msg, 'Invalid query: "me" is not a user ID')
  })

  await t.test('refuses an unknown search scope', async () => {
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

/** Inserts entries one hour apart, the newest now; most are token refreshes, as in a real log. */
async function fillLog({ query }: FlowServer, count: number): Promise<void> {
  await query(
    `insert into audit_log_entries (id, payload, created_at)
     select gen_random_uuid(), jsonb_build_object('actor_username', 'n' || n || '@example.com',
       'actor_id', '00000000-0000-4000-8000-000000000001',
       'action', case when n % 100 = 0 then 'user_deleted' else 'token_refreshed' end,
       'log_type', case when n % 100 = 0 then 'team' else 'token' end),
       '2026-01-01T00:00:00Z'::timestamptz - n * interval '1 hour'
     from generate_series(1, $1::int) n`,
    [count],
  )
  await query('analyze audit_log_entries')
}

test('a large audit log is read in bounded steps', async (t) => {
  const server = await openFlowServer(t)
  if (!server) return
  await fillLog(server, 45_000)
  const audit = async (search: string) => {
    const { status, body, headers } = await send(server.url, `/admin/audit?${search}`, {
      token: server.serviceToken,
    })
    assert.equal(status, 200, JSON.stringify(body))
    const [, next] = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '') ?? []
    const names = body.map((entry: { payload: Record<string, string> }) =>
      entry.payload['actor_username']?.replace('@example.com', ''),
    )
    return { names, next, link: headers.get('link'), total: Number(headers.get('x-total-count')) }
  }
  const follow = (next: string | undefined) => audit(next?.split('?')[1] ?? '')

  await t.test('the total is an estimate, and no page is marked as the last one', async () => {
    const { total, link, names } = await audit('per_page=2')
    assert.ok(total >= 40_000 && total <= 50_000, `${total}`)
    assert.equal(link, '</admin/audit?page=2&per_page=2>; rel="next"')
    assert.deepEqual(names, ['n1', 'n2'])
  })

  await t.test('pages start at a given time', async () => {
    const first = await audit('per_page=2&before=2025-12-31T22:00:00Z')
    assert.deepEqual(first.names, ['n3', 'n4'])
    assert.deepEqual((await follow(first.next)).names, ['n5', 'n6'])
    const bad = await send(server.url, '/admin/audit?before=yesterday', {
      token: server.serviceToken,
    })
    assert.equal(bad.status, 400)
    assert.match(bad.body.msg, /^Bad Pagination Parameters: before must be a time/)
  })

  await t.test('a search by author continues where it stopped', async () => {
    const first = await audit('query=author:n44')
    // Matches n44, n440 to n449 and n4400 to n4499; older entries were not read yet.
    assert.deepEqual(first.names.slice(0, 3), ['n44', 'n440', 'n441'])
    const found: string[] = []
    let steps = 0
    for (let page = first; ; page = await follow(page.next)) {
      found.push(...page.names)
      steps += 1
      if (page.next === undefined) break
    }
    assert.equal(found.length, 1 + 10 + 100 + 1_000)
    assert.equal(new Set(found).size, found.length)
    assert.ok(steps > found.length / 50, 'some steps find less than a page')
    const none = await audit('query=author:unknown')
    assert.deepEqual([none.names, none.total], [[], 1])
    assert.ok(none.next)
    let end = none
    for (; end.next !== undefined; end = await follow(end.next)) assert.deepEqual(end.names, [])
    assert.deepEqual([end.names, end.total], [[], 0])
  })

  await t.test('rare actions and types are found wherever they are in the log', async () => {
    for (const search of ['action:deleted', 'type:team']) {
      const last = await audit(`query=${search}&per_page=20&page=23`)
      assert.deepEqual(last.names.slice(-2), ['n44900', 'n45000'])
      assert.equal(last.total, 450)
      assert.equal(last.next, undefined)
      const older = await audit(`query=${search}&per_page=1&before=2024-01-01T00:00:00Z`)
      assert.deepEqual(older.names, ['n17600'])
    }
    assert.deepEqual((await audit('query=action:nothing')).names, [])
  })

  await t.test('frequent actions and types are found at once and are paginated', async () => {
    const first = await audit('query=action:refresh&per_page=2')
    assert.deepEqual(first.names, ['n1', 'n2'])
    assert.deepEqual((await follow(first.next)).names, ['n3', 'n4'])
    assert.deepEqual((await audit('query=type:token&per_page=99&page=2')).names.slice(0, 2), [
      'n101',
      'n102',
    ])
  })

  await t.test('the entries of a user with many of them are paginated', async () => {
    const id = '00000000-0000-4000-8000-000000000001'
    const { names, total, next } = await audit(`query=user:${id}&per_page=2&page=2`)
    assert.deepEqual([names, total], [['n3', 'n4'], 1_001])
    assert.ok(next)
  })

  await t.test('a page that is too far back is refused with a hint', async () => {
    await server.query('update pg_class set reltuples = 1000000 where oid = $1::regclass', [
      'audit_log_entries',
    ])
    const { status, body } = await send(server.url, '/admin/audit?per_page=100&page=5000', {
      token: server.serviceToken,
    })
    assert.equal(status, 400)
    assert.match(body.msg, /skip at most 100000 entries; use before=TIME/)
  })
})

test('audit entries are kept for AUTH_AUDIT_LOG_RETENTION', () => {
  const parse = (value: string, more = {}) =>
    parseConfig({
      ...testEnvironment,
      ...more,
      DATABASE_URL: 'postgres://h/d',
      AUTH_AUDIT_LOG_RETENTION: value,
    })
  assert.equal(parse('0').config.observability.auditRetentionMs, undefined)
  assert.equal(parse('2160h').config.observability.auditRetentionMs, 90 * 86_400_000)
  const noteOf = (more: object) =>
    parse('2160h', more).notes.find((note) => note.startsWith('AUTH_AUDIT_LOG_RETENTION'))
  assert.equal(noteOf({}), undefined)
  assert.equal(
    noteOf({ AUTH_DB_CLEANUP_ENABLED: 'false' }),
    'AUTH_AUDIT_LOG_RETENTION has no effect: AUTH_DB_CLEANUP_ENABLED is false, so nothing is deleted',
  )
  const [fault] = parse('10m').faults
  assert.deepEqual(
    [fault?.variable, fault?.message],
    ['AUTH_AUDIT_LOG_RETENTION', 'must be at least 1h, or 0 to keep audit entries forever'],
  )
})
