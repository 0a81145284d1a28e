/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { type FlowServer, openFlowServer } from '../../support/flow-server.ts'
import { newEmail, password, send } from '../../support/http-client.ts'

interface Event {
  readonly id: string
  readonly created_at: string
  readonly ip_address: string
  readonly payload: {
    readonly action: string
    readonly actor_username: string
    readonly traits?: Readonly<Record<string, unknown>>
    readonly user_agent?: string
    readonly request_id?: string
  }
}

interface Answer {
  readonly events: readonly Event[]
  readonly next: string | null
  readonly latest: string
}

function createReader({ url, serviceToken: token }: FlowServer) {
  const ask = (search: Readonly<Record<string, string>>) =>
    send(url, `/admin/events?${new URLSearchParams(search)}`, { token })
  return {
    ask,
    async read(search: Readonly<Record<string, string>> = {}): Promise<Answer> {
      const { status, body } = await ask(search)
      assert.equal(status, 200, JSON.stringify(body))
      return body
    },
  }
}

/** Opens another connection, which can hold a transaction open. */
async function openWriter({ databaseUrl, schema }: FlowServer) {
  const client = new Client({ connectionString: databaseUrl, options: `-c search_path=${schema}` })
  await client.connect()
  return {
    query: (sql: string, values: readonly unknown[] = []) => client.query(sql, [...values]),
    [Symbol.asyncDispose]: () => client.end(),
  }
}

const toActions = ({ events }: Answer) => events.map(({ payload }) => payload.action)

test('GET /admin/events', async (t) => {
  const server = await openFlowServer(t, {
    AUTH_TRUSTED_HOPS: '1',
    AUTH_REQUEST_ID_HEADER: 'x-request-id',
  })
  if (!server) return
  const { read, ask } = createReader(server)
  const signIn = (email: string, word: string, ip: string) =>
    server.post('/token?grant_type=password', { email, password: word }, { 'x-forwarded-for': ip })
  const { id, email } = await server.newUser()
  const other = await server.newUser()
  const { body: tokens } = await signIn(email, password, '203.0.113.5')
  await signIn(email, 'not the right one', '2001:DB8:0::1')
  await signIn('unknown@example.com', password, '203.0.113.9')
  await server.post('/token?grant_type=refresh_token', { refresh_token: tokens.refresh_token })
  // Failures are written after their responses.
  while ((await read({ failed: 'true' })).events.length < 2) await sleep(20)

  await t.test('lists audit entries and failed sign-ins together, newest first', async () => {
    const all = await read()
    assert.deepEqual(toActions(all).toSorted(), [
      'login',
      'login_failed',
      'login_failed',
      'user_confirmation_requested',
      'user_confirmation_requested',
    ])
    const times = all.events.map(({ created_at: time }) => Date.parse(time))
    assert.deepEqual(
      times,
      times.toSorted((a, b) => b - a),
    )
    assert.equal(all.next, null)
    const failed = all.events.find(({ payload }) => payload.actor_username === email)
    assert.deepEqual(Object.keys(failed ?? {}).toSorted(), [
      ...['created_at', 'id', 'ip_address', 'payload'],
    ])
  })

  await t.test('filters by user, name, address, action, reason, failure and time', async () => {
    assert.deepEqual(toActions(await read({ user: id })).toSorted(), [
      ...['login', 'login_failed', 'user_confirmation_requested'],
    ])
    const byName = await read({ name: ` ${email.toUpperCase()} ` })
    assert.deepEqual(byName.events, (await read({ user: id })).events)
    assert.deepEqual(toActions(await read({ name: 'UNKNOWN@example' })), ['login_failed'])
    assert.deepEqual(toActions(await read({ address: '203.0.113.5' })), ['login'])
    const [failed] = (await read({ address: '2001:db8::1' })).events
    assert.equal(failed?.payload.action, 'login_failed')
    assert.deepEqual(
      [failed?.payload.traits?.['reason'], failed?.payload.traits?.['count']],
      ['wrong_password', 1],
    )
    assert.deepEqual(toActions(await read({ action: 'login' })), ['login'])
    assert.deepEqual(toActions(await read({ action: 'token_refreshed' })), ['token_refreshed'])
    assert.deepEqual(toActions(await read({ action: 'login_failed', user: other.id })), [])
    assert.equal((await read({ reason: 'wrong_password' })).events.length, 2)
    assert.equal((await read({ reason: 'banned' })).events.length, 0)
    assert.ok(toActions(await read({ tokens: 'true', user: id })).includes('token_refreshed'))
    const [login] = (await read({ action: 'login' })).events
    const at = login?.created_at ?? ''
    assert.deepEqual(toActions(await read({ from: at, action: 'login' })), ['login'])
    assert.deepEqual(toActions(await read({ to: at, action: 'login' })), [])
    assert.deepEqual(toActions(await read({ from: '2999-01-01T00:00:00Z' })), [])
  })

  await t.test('events have the user agent and the ID of their request', async () => {
    const agent = `agent ${'x'.repeat(600)}`
    const headers = { 'user-agent': agent, 'x-request-id': 'request-of-ada' }
    const ada = await server.newUser()
    const body = { email: ada.email, password }
    assert.equal((await server.post('/token?grant_type=password', body, headers)).status, 200)
    const wrong = { ...body, password: 'not the right one' }
    await server.post('/token?grant_type=password', wrong, { 'user-agent': 'first' })
    await server.post('/token?grant_type=password', wrong, headers)
    const readFailed = async () => (await read({ user: ada.id, failed: 'true' })).events[0]
    let failed = await readFailed()
    while (failed?.payload.traits?.['count'] !== 2) failed = await readFailed()
    const [login] = (await read({ user: ada.id, action: 'login' })).events
    for (const event of [login, failed]) {
      assert.deepEqual(
        [event?.payload.user_agent, event?.payload.request_id],
        [agent.slice(0, 256), 'request-of-ada'],
      )
    }
    await send(server.url, `/admin/users/${ada.id}`, {
      method: 'DELETE',
      token: server.serviceToken,
    })
    const { events } = await read({ user: ada.id, action: 'login' })
    assert.deepEqual(
      events.map(({ payload }) => [payload.user_agent, payload.request_id]),
      [[undefined, undefined]],
    )
  })

  await t.test('a former address finds the entries that have it', async () => {
    const old = other.email
    await send(server.url, `/admin/users/${other.id}`, {
      method: 'PUT',
      token: server.serviceToken,
      body: { email: newEmail(), email_confirm: true },
    })
    assert.deepEqual(toActions(await read({ name: old })).slice(-1), [
      'user_confirmation_requested',
    ])
  })

  await t.test('phone numbers are found in any notation', async () => {
    await server.query(
      `insert into sign_in_failures (id, period, aud, name, reason, ip_address, count, first_at, last_at)
       values (gen_random_uuid(), now(), '', '15550100', 'limited', '', 3, now(), now())`,
    )
    for (const name of ['+1 555-0100', '1 (555) 0100', '0100']) {
      assert.deepEqual(toActions(await read({ name, reason: 'limited' })), ['login_failed'], name)
    }
  })

  await t.test('an invalid value is refused with the name of its parameter', async () => {
    const refusals: readonly (readonly [Readonly<Record<string, string>>, RegExp])[] = [
      [{ user: 'me' }, /^user must be a user ID. Got "me"$/],
      [{ user: id, name: email }, /^user and name cannot be combined$/],
      [{ name: 'a\0b' }, /^name contains a character that cannot be stored$/],
      [{ address: '300.1.1.1' }, /^address must be an IP address .* Got "300.1.1.1"$/],
      [{ action: 'sign_in' }, /^action must be one of login, .*login_failed. Got "sign_in"$/],
      [{ reason: 'why' }, /^reason must be one of wrong_password, .* Got "why"$/],
      [{ failed: 'yes' }, /^failed must be true or false. Got "yes"$/],
      [{ action: 'login', failed: 'true' }, /^action=login cannot be combined with failed=true/],
      [{ action: 'login', reason: 'banned' }, /^action=login cannot be combined with reason/],
      [{ tokens: '1' }, /^tokens must be true or false. Got "1"$/],
      [{ from: 'yesterday' }, /^from must be a time such as .* Got "yesterday"$/],
      [{ to: '2026-02-31T00:00:00Z' }, /^to must be a time such as/],
      [{ from: '2026-01-31T00:00:00+23:00' }, /^from must be a time such as/],
      [{ before: '0000-01-01T00:00:00Z' }, /before must be a time such as/],
      [{ to: '2026-13-01T00:00:00Z' }, /^to must be a time such as/],
      [{ limit: '1001' }, /limit must be a whole number from 1 to 1000. Got "1001"$/],
      [{ before: 'now' }, /before must be a time such as .* Got "now"$/],
      [{ before: `2026-01-01T00:00:00Z_${'-'.repeat(36)}` }, /before must be a time/],
      [{ after: 'x' }, /^after must be the value of "latest" in a response$/],
      [{ after: toCursor('5:4: 2026-01-01T00:00:00Z') }, /^after must be/],
      [{ after: toCursor('1:9:5,4 2026-01-01T00:00:00Z') }, /^after must be/],
      [{ after: (await read()).latest, to: '2026-01-01T00:00:00Z' }, /^to cannot be combined/],
    ]
    for (const [search, message] of refusals) {
      const { status, body } = await ask(search)
      assert.equal(status, 400, JSON.stringify(search))
      assert.match(body.msg, message)
    }
    assert.equal((await send(server.url, '/admin/events', {})).status, 401)
  })
})

function toCursor(text: string): string {
  return Buffer.from(text).toString('base64url')
}

test('pages of events are complete while new ones arrive', async (t) => {
  const server = await openFlowServer(t)
  if (!server) return
  const { read } = createReader(server)
  // Most entries are refreshes, and several have the same time.
  await server.query(
    `insert into audit_log_entries (id, payload, ip_address, created_at)
     select gen_random_uuid(), jsonb_build_object('actor_username', 'n' || n, 'actor_id',
       '00000000-0000-4000-8000-000000000001', 'action',
       case when n % 100 = 0 then 'user_deleted' else 'token_refreshed' end, 'log_type',
       case when n % 100 = 0 then 'team' else 'token' end),
       case when n % 1000 = 0 then '203.0.113.7' else '203.0.113.8' end,
       '2026-01-01T00:00:00Z'::timestamptz - n / 500 * interval '1 hour'
     from generate_series(1, 45000) n`,
  )
  await server.query(
    `insert into sign_in_failures (id, period, aud, name, reason, ip_address, count, first_at, last_at)
     select gen_random_uuid(), now() - n * interval '1 hour', '', 'f' || n, 'limited', '203.0.113.7', 1,
       now(), '2026-01-01T00:00:00Z'::timestamptz - n * interval '1 hour'
     from generate_series(1, 60) n`,
  )
  await server.query('analyze audit_log_entries')

  const readAll = async (search: Readonly<Record<string, string>>) => {
    const found: string[] = []
    let pages = 0
    for (let before = ''; ; pages += 1) {
      const page = await read({ ...search, ...(before !== '' && { before }) })
      found.push(...page.events.map(({ payload }) => payload.actor_username))
      await server.query(
        `insert into audit_log_entries (id, payload) values (gen_random_uuid(),
         '{"action": "login", "log_type": "account", "actor_username": "new"}')`,
      )
      if (page.next === null) return { found, pages }
      before = page.next
    }
  }

  await t.test(
    'each event once, although a page may read many entries for a few events',
    async () => {
      const { found, pages } = await readAll({ to: '2026-01-02T00:00:00Z', limit: '25' })
      assert.equal(found.length, 450 + 60)
      assert.equal(new Set(found).size, found.length)
      assert.ok(pages >= 20, `${pages}`)
    },
  )

  await t.test('an address, an action and a user are found with an index', async () => {
    const to = '2026-01-02T00:00:00Z'
    server.takeStatements()
    const searches = [
      [{ address: '203.0.113.7' }, 'list_events_by_address', 45 + 60],
      [{ action: 'user_deleted' }, 'list_events_by_action', 450],
      [{ failed: 'true' }, 'list_events_by_time', 60],
      [{ user: '00000000-0000-4000-8000-000000000001' }, 'list_events_by_user', 450],
      [{ address: '203.0.113.7', tokens: 'true' }, 'list_events_by_time', 45 + 60],
    ] as const
    for (const [search, statement, count] of searches) {
      const { found } = await readAll({ ...search, to, limit: '40' })
      assert.equal(found.length, count, JSON.stringify(search))
      assert.equal(new Set(found).size, count)
      assert.deepEqual([...new Set(server.takeStatements())], [statement])
    }
  })
})

test('the live tail returns each event once, in whatever order transactions commit', async (t) => {
  const server = await openFlowServer(t)
  if (!server) return
  const { read } = createReader(server)
  const insert = (name: string, agoSeconds = 0) =>
    [
      `insert into audit_log_entries (id, payload, created_at) values (gen_random_uuid(),
     jsonb_build_object('action', 'login', 'log_type', 'account', 'actor_id', $1::text,
       'actor_username', $2::text), now() - $3 * interval '1 second')`,
      ['00000000-0000-4000-8000-000000000001', name, agoSeconds],
    ] as const
  const names = ({ events }: Answer) => events.map(({ payload }) => payload.actor_username)

  await t.test('a transaction that commits late is not lost', async () => {
    let { latest } = await read()
    const seen: string[] = []
    const poll = async () => {
      const tail = await read({ after: latest })
      latest = tail.latest
      seen.push(...names(tail))
    }
    await using slow = await openWriter(server)
    await using fast = await openWriter(server)
    await slow.query('begin')
    await slow.query(...insert('slow', 5))
    await fast.query(...insert('fast'))
    await poll()
    assert.deepEqual(seen, ['fast'])
    await poll()
    await fast.query(...insert('faster'))
    await slow.query('commit')
    await poll()
    await poll()
    assert.deepEqual(seen, ['fast', 'slow', 'faster'])
  })

  await t.test('more events than a response holds are continued', async () => {
    const { latest: start } = await read()
    await using slow = await openWriter(server)
    await slow.query('begin')
    await slow.query(...insert('late'))
    for (let number = 1; number <= 7; number += 1) await server.query(...insert(`n${number}`))
    const seen: string[] = []
    let latest = start
    for (let turn = 0; turn < 6; turn += 1) {
      const tail = await read({ after: latest, limit: '3' })
      seen.push(...names(tail))
      latest = tail.latest
      // Committed between two parts of the same tail.
      if (turn === 0) await slow.query('commit')
      if (turn === 1) await server.query(...insert('newest'))
    }
    assert.deepEqual(seen.toSorted(), ['late', 'n1', 'n2', 'n3', 'n4', 'n5', 'n6', 'n7', 'newest'])
  })

  await t.test('events of concurrent writers are returned once', async () => {
    let { latest } = await read()
    const seen: string[] = []
    const wanted: string[] = []
    let isDone = false
    const follow = async () => {
      for (;;) {
        const wasDone = isDone
        const tail = await read({ after: latest, limit: '10' })
        latest = tail.latest
        seen.push(...names(tail))
        if (wasDone && tail.events.length === 0) return
      }
    }
    const write = async (writer: number) => {
      await using client = await openWriter(server)
      for (let turn = 0; turn < 20; turn += 1) {
        await client.query('begin')
        for (const part of ['a', 'b']) {
          wanted.push(`${writer}-${turn}-${part}`)
          await client.query(...insert(`${writer}-${turn}-${part}`, writer))
        }
        await client.query('select pg_sleep($1)', [Math.random() / 50])
        await client.query('commit')
      }
    }
    const writers = Promise.all([1, 2, 3, 4].map(write)).then(() => {
      isDone = true
    })
    await Promise.all([follow(), writers])
    assert.deepEqual(seen.toSorted(), wanted.toSorted())
  })

  await t.test('filters apply, and a failure is returned again when it is repeated', async () => {
    const { latest } = await read()
    await server.query(...insert('someone'))
    await server.query(
      `insert into sign_in_failures (id, period, aud, name, reason, ip_address, count, first_at, last_at)
       values (gen_random_uuid(), now(), '', 'a@example.com', 'limited', '', 1, now(), now())`,
    )
    const first = await read({ after: latest, failed: 'true' })
    const counts = ({ events }: Answer) => events.map(({ payload }) => payload.traits?.['count'])
    assert.deepEqual(counts(first), [1])
    assert.deepEqual(counts(await read({ after: first.latest, failed: 'true' })), [])
    await server.query('update sign_in_failures set count = 4, last_at = now()')
    assert.deepEqual(counts(await read({ after: first.latest, failed: 'true' })), [4])
    assert.deepEqual(names(await read({ after: latest, action: 'login' })), ['someone'])
  })
})
