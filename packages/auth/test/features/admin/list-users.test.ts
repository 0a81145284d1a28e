/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAuthClient } from '../../support/auth-js.ts'
import { errorOf, type FlowServer, openFlowServer } from '../../support/flow-server.ts'
import { newEmail, send } from '../../support/http-client.ts'

/** Inserts users created one minute apart; the user with the highest number is the newest. */
async function addUsers({ query }: FlowServer, count: number, aud = ''): Promise<void> {
  await query(
    `insert into users (id, aud, email, raw_user_meta_data, created_at)
     select gen_random_uuid(), $2, $2 || 'u' || lpad(n::text, 4, '0') || '@list.example',
       jsonb_build_object('full_name', 'Person ' || n),
       timestamptz '2026-01-01' + n * interval '1 minute'
     from generate_series(1, $1::integer) n`,
    [count, aud],
  )
}

const emailsOf = ({ body }: { readonly body: { readonly users: { readonly email: string }[] } }) =>
  body.users.map(({ email }) => email)

const name = (number: number) => `u${String(number).padStart(4, '0')}@list.example`

test('GET /admin/users', async (t) => {
  const server = await openFlowServer(t, { AUTH_JWT_ALLOWED_AUDIENCES: 'other' })
  if (!server) return
  const { url, query, serviceToken: token } = server
  const list = (search = '') => send(url, `/admin/users${search}`, { token })
  const empty = await list()
  assert.deepEqual(empty.body, { users: [], aud: '' })
  assert.equal(empty.headers.get('x-total-count'), '0')
  assert.equal(empty.headers.get('link'), '</admin/users?page=1&per_page=50>; rel="last"')
  await addUsers(server, 120)
  await addUsers(server, 7, 'other')

  await t.test('lists fifty users, newest first, in one statement', async () => {
    server.takeStatements()
    const answer = await list('?page=&per_page=')
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    assert.deepEqual(server.takeStatements(), ['list_users_desc'])
    assert.equal(answer.body.users.length, 50)
    assert.deepEqual(emailsOf(answer).slice(0, 2), [name(120), name(119)])
    assert.equal(answer.headers.get('x-total-count'), '120')
    assert.equal(
      answer.headers.get('link'),
      '</admin/users?page=2&per_page=50>; rel="next", </admin/users?page=3&per_page=50>; rel="last"',
    )
  })

  await t.test('every page in both sort orders has the expected users', async () => {
    const newest = Array.from({ length: 120 }, (_, index) => name(120 - index))
    for (const size of [7, 50, 60, 119, 120, 200]) {
      for (const [sort, all] of [
        ['created_at desc', newest],
        ['created_at asc', newest.toReversed()],
      ] as const) {
        for (let page = 1; (page - 1) * size < 120 + size; page += 1) {
          const search = new URLSearchParams({ page: `${page}`, per_page: `${size}`, sort })
          const answer = await list(`?${search}`)
          const expected = all.slice((page - 1) * size, page * size)
          assert.deepEqual(emailsOf(answer), expected, `${search}`)
          assert.equal(answer.headers.get('x-total-count'), '120')
        }
      }
    }
    const last = await list('?page=3')
    assert.equal(last.headers.get('link'), '</admin/users?page=3&per_page=50>; rel="last"')
  })

  await t.test('users of another audience are listed separately', async () => {
    const { body, headers } = await send(url, '/admin/users', {
      token,
      headers: { 'x-jwt-aud': 'other' },
    })
    assert.deepEqual([body.aud, body.users.length], ['other', 7])
    assert.equal(headers.get('x-total-count'), '7')
  })

  await t.test('filters by a part of the email or the full name, ignoring case', async () => {
    const cases: readonly (readonly [string, readonly number[]])[] = [
      ['U0117', [117]],
      ['person 11', [119, 118, 117, 116, 115, 114, 113, 112, 111, 110, 11]],
      ['0@list', [120, 110, 100, 90, 80, 70, 60, 50, 40, 30, 20, 10]],
      // This text is too short for the trigram index.
      [' 7', [79, 78, 77, 76, 75, 74, 73, 72, 71, 70, 7]],
      ['unknown', []],
    ]
    for (const [filter, numbers] of cases) {
      const search = new URLSearchParams({ filter })
      const answer = await list(`?${search}`)
      assert.deepEqual(emailsOf(answer), numbers.map(name), filter)
      assert.equal(answer.headers.get('x-total-count'), `${numbers.length}`)
    }
    const paged = await list('?filter=person&sort=created_at+asc&page=2&per_page=40')
    assert.deepEqual(emailsOf(paged)[0], name(41))
    assert.equal(
      paged.headers.get('link'),
      '</admin/users?page=3&per_page=40&filter=person&sort=created_at+asc>; rel="next", ' +
        '</admin/users?page=3&per_page=40&filter=person&sort=created_at+asc>; rel="last"',
    )
  })

  await t.test('percent, underscore and backslash in a filter match literally', async () => {
    for (const filter of ['%', '_', '%%%', 'u____@', 'u%example', '\\', 'u0001\\', "'", "' or 1"]) {
      const answer = await list(`?${new URLSearchParams({ filter })}`)
      assert.deepEqual([answer.status, emailsOf(answer)], [200, []], filter)
    }
    await query("update users set raw_user_meta_data = $1 where email = 'u0003@list.example'", [
      { full_name: '100%_sure\\really' },
    ])
    for (const filter of ['%', '_', '%_', '\\', '100%_sure', '100%_SURE\\really']) {
      const answer = await list(`?${new URLSearchParams({ filter })}`)
      assert.deepEqual(emailsOf(answer), [name(3)], filter)
    }
  })

  await t.test('a cursor visits every user once, even if users are added meanwhile', async () => {
    const seen: string[] = []
    let cursor = ''
    for (;;) {
      const answer = await list(`?limit=33&cursor=${cursor}`)
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
      seen.push(...emailsOf(answer))
      const { next_cursor: next, has_more: hasMore } = answer.body.pagination
      assert.equal(hasMore, next !== undefined)
      if (next === undefined) break
      // With page numbers, a new user would shift every page by one.
      await send(url, '/admin/users', { token, body: { email: newEmail() } })
      cursor = next
    }
    assert.deepEqual(
      seen,
      Array.from({ length: 120 }, (_, index) => name(120 - index)),
    )
    const ascending = await list('?limit=2&sort=created_at+asc&filter=person')
    assert.deepEqual(emailsOf(ascending), [name(1), name(2)])
    await query("delete from users where email like 'user-%'")
  })

  await t.test('the total is correct however users are added and removed', async () => {
    const total = async () => (await list('?per_page=1')).headers.get('x-total-count')
    assert.equal(await total(), '120')
    const { body } = await send(url, '/admin/users', { token, body: { email: newEmail() } })
    assert.equal(await total(), '121')
    await query("update users set aud = 'other' where id = $1", [body.id])
    assert.equal(await total(), '120')
    await send(url, `/admin/users/${body.id}`, { method: 'DELETE', token })
    await Promise.all(Array.from({ length: 20 }, () => server.newUser()))
    assert.equal(await total(), '140')
    await query("delete from users where email like 'user-%'")
    assert.equal(await total(), '120')
  })

  await t.test('users are listed with their identities', async () => {
    const { id } = await server.newUser()
    const { body } = await list('?per_page=1')
    assert.deepEqual([body.users[0].id, body.users[0].identities.length], [id, 1])
    const shown = await send(url, `/admin/users/${id}`, { token })
    assert.deepEqual(body.users[0], shown.body)
    await query("delete from users where email like 'user-%'")
  })

  await t.test('refuses invalid page numbers, sort orders and cursors', async () => {
    const cases = [
      ['page=0', 'Bad Pagination Parameters: page must be a whole number from 1 to'],
      ['page=x', 'Bad Pagination Parameters: page must be'],
      ['page=-1', 'Bad Pagination Parameters: page must be'],
      ['per_page=1e3', 'Bad Pagination Parameters: per_page must be'],
      ['per_page=10001', 'Bad Pagination Parameters: per_page must be'],
      ['limit=1001', 'Bad Pagination Parameters: limit must be a whole number from 1 to 1000'],
      ['cursor=x', 'Bad Pagination Parameters: cursor must be the next_cursor of a response'],
      ['sort=email', 'Bad Sort Parameters: sort must be'],
      ['filter=%00', 'The filter contains a character'],
    ] as const
    for (const [search, message] of cases) {
      const answer = await list(`?${search}`)
      assert.deepEqual([answer.status, answer.body.error_code], [400, 'validation_failed'], search)
      assert.ok(answer.body.msg.startsWith(message), answer.body.msg)
    }
    assert.deepEqual(emailsOf(await list('?page=999999999999')), [])
    const twice = await list('?per_page=1&per_page=2&filter=person&filter=x&sort=&sort=x&cursor=')
    assert.equal(twice.status, 200)
    assert.deepEqual(errorOf(await send(url, '/admin/users'))[0], 401)
  })

  await t.test('the client library can read the pagination headers', async () => {
    const { admin } = createAuthClient(url, { headers: { authorization: `Bearer ${token}` } })
    const first = await admin.listUsers({ page: 1, perPage: 50 })
    assert.equal(first.error, null)
    const { users, ...rest } = first.data
    assert.equal(users.length, 50)
    assert.deepEqual({ ...rest }, { aud: '', nextPage: 2, lastPage: 3, total: 120 })
    const last = await admin.listUsers({ page: 3, perPage: 50 })
    assert.equal(last.data.users.length, 20)
    assert.equal('nextPage' in last.data && last.data.nextPage, null)
  })
})
