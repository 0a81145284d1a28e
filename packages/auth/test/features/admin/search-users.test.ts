/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openFlowServer } from '../../support/flow-server.ts'
import { send } from '../../support/http-client.ts'

test('a search among many users reads a bounded number of rows', async (t) => {
  const server = await openFlowServer(t, { AUTH_JWT_AUD: 'authenticated' })
  if (!server) return
  // The oldest 12,000 users have another domain, and they are more than a search counts.
  await server.query(
    `insert into users (id, aud, phone, email, raw_user_meta_data, created_at)
     select gen_random_uuid(), 'authenticated', case when n > 33000 then '1555' || lpad(n::text, 7, '0') end,
       n || case when n > 23000 then '@before.example' else '@today.example' end,
       case when n = 34999 then '{"full_name": "日本"}' else '{}' end::jsonb,
       '2026-01-01T00:00:00Z'::timestamptz - n * interval '1 hour'
     from generate_series(1, 35000) n`,
  )
  await server.query('analyze users')
  const list = async (search: string) => {
    const { status, body, headers } = await send(server.url, `/admin/users?${search}`, {
      token: server.serviceToken,
    })
    assert.equal(status, 200, JSON.stringify(body))
    const link = headers.get('link') ?? ''
    const [, next] = /<([^>]+)>; rel="next"/.exec(link) ?? []
    return {
      names: body.users.map(({ email }: { email: string }) => email.split('@')[0]) as string[],
      total: Number(headers.get('x-total-count')),
      cursor: body.pagination?.next_cursor as string | undefined,
      next,
      link,
    }
  }

  await t.test('a frequent match is found at once, and the total is an estimate', async () => {
    const { names, total, link } = await list('filter=today&per_page=2')
    assert.deepEqual(names, ['1', '2'])
    assert.equal(total, 35_000)
    assert.equal(link, '</admin/users?page=2&per_page=2&filter=today>; rel="next"')
    assert.deepEqual((await list('filter=today&per_page=2&page=2')).names, ['3', '4'])
  })

  await t.test('a rare match is found and counted exactly, wherever it is', async () => {
    const { names, total, link } = await list('filter=34998')
    assert.deepEqual([names, total], [['34998'], 1])
    assert.equal(link, '</admin/users?page=1&per_page=50&filter=34998>; rel="last"')
    const slice = await list('filter=3499&limit=5')
    assert.deepEqual(slice.names, ['3499', '13499', '23499', '33499', '34990'])
    const rest = await list(`filter=3499&limit=50&cursor=${slice.cursor}`)
    assert.deepEqual([rest.names.length, rest.cursor], [9, undefined])
    assert.deepEqual((await list('filter=unknown')).names, [])
  })

  await t.test('a search that reached its limit continues where it stopped', async () => {
    const first = await list('filter=before&per_page=3')
    assert.deepEqual(first.names, [])
    assert.match(
      first.next ?? '',
      /^\/admin\/users\?page=1&per_page=3&filter=before&limit=3&cursor=/,
    )
    let second = await list((first.next ?? '').split('?')[1] ?? '')
    assert.deepEqual(second.names, [])
    second = await list(`filter=before&limit=3&cursor=${second.cursor}`)
    assert.deepEqual(second.names, ['23001', '23002', '23003'])
    const third = await list(`filter=before&limit=3&cursor=${second.cursor}`)
    assert.deepEqual(third.names, ['23004', '23005', '23006'])
    assert.deepEqual((await list('filter=before&limit=2&sort=created_at asc')).names, [
      '35000',
      '34999',
    ])
  })

  await t.test('parts of phone numbers and starts of ids are found by indexes', async () => {
    for (const filter of ['15550034997', '+1 (555) 003-4997', '0034997']) {
      const { names, total } = await list(`filter=${encodeURIComponent(filter)}`)
      assert.deepEqual([names, total], [['34997'], 1], filter)
    }
    const [user] = await server.query(`select id from users where email = '34996@before.example'`)
    const id = user?.id ?? ''
    for (const length of [8, 13, 36]) {
      assert.deepEqual((await list(`filter=${id.slice(0, length)}`)).names, ['34996'])
    }
    const { findUsers } = await import('../../../src/features/admin/statements/list-users.ts')
    const values = ['authenticated', null, null, 0, 50, '%0034997%', '0034997', id, id]
    const plan = await server.query(
      `explain ${findUsers.desc.text.replaceAll('{ns}.', '')}`,
      values,
    )
    const text = plan.map((row) => Object.values(row)[0]).join('\n')
    for (const index of ['users_phone_parts', 'users_pkey']) {
      assert.ok(text.includes(index), `${index} is not used:\n${text}`)
    }
  })

  await t.test('a search too short for the index also continues where it stopped', async () => {
    const found: string[] = []
    let steps = 0
    let cursor: string | undefined = ''
    for (; cursor !== undefined; steps++) {
      const slice: Awaited<ReturnType<typeof list>> = await list(
        `filter=日本&limit=10&cursor=${cursor}`,
      )
      found.push(...slice.names)
      cursor = slice.cursor
    }
    assert.deepEqual([found, steps], [['34999'], 4])
  })
})
