/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorOf, openFlowServer } from '../../support/flow-server.ts'
import { send } from '../../support/http-client.ts'

/** Ten users, created one day apart: 1 on 1 January 2026, and so on. */
const seed = `with made as (
     insert into users (id, aud, role, email, phone, email_confirmed_at, phone_confirmed_at,
       is_anonymous, banned_until, last_sign_in_at, invited_at, raw_app_meta_data,
       raw_user_meta_data, created_at, updated_at)
     select ('00000000-0000-4000-8000-' || lpad(to_hex(16 - n), 12, '0'))::uuid, '',
       case when n = 4 then 'editor' else 'authenticated' end,
       case when n not in (5, 6) then 'u' || n || '@filter.example' end,
       case when n = 5 then '15550000005' end,
       case when n in (1, 2, 3, 4) then now() end, case when n = 5 then now() end, n = 6,
       case when n = 1 then 'infinity'::timestamptz when n = 2 then now() - interval '1 day' end,
       case when n <= 3 then timestamptz '2026-02-10Z' - n * interval '1 day' end,
       case when n = 7 then now() end,
       jsonb_build_object('provider', case when n = 3 then 'google' else 'email' end),
       case when n in (8, 9) then jsonb_build_object('full_name', 'Person ' || 17 - n) else '{}' end,
       timestamptz '2025-12-31Z' + n * interval '1 day', timestamptz '2026-03-31Z' - n * interval '1 day'
     from generate_series(1, 10) n
     returning id, email
   ), known as (
     insert into identities (id, user_id, provider, provider_id)
     select gen_random_uuid(), id, 'email', id::text from made where email is not null
   ), linked as (
     insert into identities (id, user_id, provider, provider_id)
     select gen_random_uuid(), id, 'google', id::text from made where email in ('u2@filter.example', 'u3@filter.example')
   )
   insert into mfa_factors (id, user_id, factor_type, status, friendly_name)
   select gen_random_uuid(), id, 'totp', case when email like 'u1@%' then 'verified' else 'unverified' end, 'a'
   from made where email in ('u1@filter.example', 'u2@filter.example')`

test('GET /admin/users selects and sorts users', async (t) => {
  const server = await openFlowServer(t)
  if (!server) return
  const { url, query, serviceToken: token } = server
  await query(seed)
  const list = (search: Readonly<Record<string, string>>) =>
    send(url, `/admin/users?${new URLSearchParams(search)}`, { token })
  /** The numbers of the users, in the order of the response. */
  const find = async (search: Readonly<Record<string, string>>) => {
    const { status, body } = await list(search)
    assert.equal(status, 200, JSON.stringify(body))
    return body.users.map(
      ({ id }: { readonly id: string }) => 16 - Number.parseInt(id.slice(-2), 16),
    )
  }

  const newestFirst = [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]
  const without = (...left: readonly number[]) => newestFirst.filter((n) => !left.includes(n))

  for (const [search, expected] of [
    [{ confirmed: 'true' }, [5, 4, 3, 2, 1]],
    [{ confirmed: 'false' }, [10, 9, 8, 7, 6]],
    [{ banned: 'true' }, [1]],
    [{ banned: 'false' }, without(1)],
    [{ anonymous: 'true' }, [6]],
    [{ anonymous: 'false' }, without(6)],
    [{ second_factor: 'true' }, [1]],
    [{ second_factor: 'false' }, without(1)],
    [{ signed_in: 'true' }, [3, 2, 1]],
    [{ signed_in: 'false' }, without(3, 2, 1)],
    [{ provider: 'google' }, [3, 2]],
    [{ provider: 'email', signed_in: 'true' }, [3, 2, 1]],
    [{ provider: 'github' }, []],
    [{ created_after: '2026-01-09' }, [10, 9]],
    [{ created_before: '2026-01-03T00:00:00Z' }, [2, 1]],
    [{ created_after: '2026-01-02T01:00:00+01:00', created_before: '2026-01-04' }, [3, 2]],
    [{ last_sign_in_after: '2026-02-08' }, [2, 1]],
    [{ last_sign_in_before: '2026-02-08' }, [3]],
    [{ filter: 'u1', confirmed: 'true' }, [1]],
    [{ filter: 'PERSON', confirmed: 'false' }, [9, 8]],
    [{ filter: '000 0005', confirmed: 'true' }, [5]],
    [{ filter: '00000000', confirmed: 'true', sort: 'created_at asc' }, [1, 2, 3, 4, 5]],
    [{ confirmed: '', banned: '', order_by: '' }, newestFirst],
  ] as const) {
    await t.test(`finds the users of ${JSON.stringify(search)}`, async () => {
      assert.deepEqual(await find(search), expected)
    })
  }

  for (const [orderBy, expected] of [
    ['created_at', newestFirst.toReversed()],
    ['created_at desc', newestFirst],
    ['updated_at asc', newestFirst],
    ['id', newestFirst],
    // Users without a value come last in both directions.
    ['last_sign_in_at', [3, 2, 1, 10, 9, 8, 7, 6, 5, 4]],
    ['last_sign_in_at desc', [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]],
    ['email', [10, 1, 2, 3, 4, 7, 8, 9, 6, 5]],
    ['EMAIL  DESC', [9, 8, 7, 4, 3, 2, 1, 10, 5, 6]],
    ['phone', [5, 10, 9, 8, 7, 6, 4, 3, 2, 1]],
    ['full_name', [9, 8, 10, 7, 6, 5, 4, 3, 2, 1]],
    ['role desc', [4, 1, 2, 3, 5, 6, 7, 8, 9, 10]],
    ['provider desc', [3, 1, 2, 4, 5, 6, 7, 8, 9, 10]],
    ['second_factor desc', [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]],
    ['status', [6, 1, 5, 4, 3, 2, 7, 10, 9, 8]],
  ] as const) {
    await t.test(`sorts by ${orderBy}, in pages and by cursor`, async () => {
      assert.deepEqual(await find({ order_by: orderBy }), expected)
      const pages = [
        ...(await find({ order_by: orderBy, page: '1', per_page: '4' })),
        ...(await find({ order_by: orderBy, page: '2', per_page: '4' })),
        ...(await find({ order_by: orderBy, page: '3', per_page: '4' })),
      ]
      assert.deepEqual(pages, expected)
      const found: unknown[] = []
      let cursor: string | undefined = ''
      while (cursor !== undefined) {
        const search: Record<string, string> = { order_by: orderBy, limit: '3', cursor }
        found.push(...(await find(search)))
        const { body } = await list(search)
        assert.equal(body.pagination.has_more, body.pagination.next_cursor !== undefined)
        cursor = body.pagination.next_cursor
      }
      assert.deepEqual(found, expected)
    })
  }

  await t.test(
    'a page has the number of selected users, and links keep the selection',
    async () => {
      server.takeStatements()
      const search = { confirmed: 'false', order_by: 'email desc', per_page: '2' }
      const { headers, body } = await list(search)
      assert.deepEqual(server.takeStatements(), ['filter_users_all_email_desc'])
      assert.deepEqual([headers.get('x-total-count'), body.total], ['5', 5])
      const same = 'per_page=2&confirmed=false&order_by=email+desc'
      assert.equal(
        headers.get('link'),
        `</admin/users?page=2&${same}>; rel="next", </admin/users?page=3&${same}>; rel="last"`,
      )
      const beyond = await list({ confirmed: 'false', page: '9' })
      assert.deepEqual([beyond.body.users, beyond.headers.get('x-total-count')], [[], '5'])
    },
  )

  await t.test('users of another audience are not listed', async () => {
    const { body } = await send(url, '/admin/users?confirmed=true', {
      token,
      headers: { 'x-jwt-aud': 'other' },
    })
    assert.notEqual(body.users?.length, 5)
  })

  await t.test('invalid values are refused with the parameter and the allowed values', async () => {
    const refuses = async (search: Readonly<Record<string, string>>, message: string) =>
      assert.deepEqual(errorOf(await list(search)), [400, 'validation_failed', message])
    for (const name of ['confirmed', 'banned', 'anonymous', 'second_factor', 'signed_in']) {
      await refuses(
        { [name]: 'yes' },
        `Bad Filter Parameters: ${name} must be true or false. Got "yes"`,
      )
    }
    for (const name of ['created_after', 'created_before', 'last_sign_in_after']) {
      for (const value of ['yesterday', '2026-13-01', '2026-02-30', '2026-01-01T10:00']) {
        await refuses(
          { [name]: value },
          `Bad Filter Parameters: ${name} must be a date such as 2026-03-04 (UTC) or a time such as 2026-03-04T10:00:00Z. Got "${value}"`,
        )
      }
    }
    await refuses(
      { provider: 'a b' },
      'Bad Filter Parameters: provider must be the name of a provider, such as email, phone or google. Got "a b"',
    )
    for (const value of ['password', 'email up', 'email asc desc', '__proto__']) {
      await refuses(
        { order_by: value },
        `Bad Filter Parameters: order_by must be one of created_at, updated_at, last_sign_in_at, email, phone, full_name, id, role, provider, second_factor, status, followed by asc or desc. Got "${value}"`,
      )
    }
    await refuses(
      { order_by: 'email', sort: 'created_at asc' },
      'Bad Filter Parameters: sort and order_by cannot be combined',
    )
    await refuses(
      { filter: 'a\0', confirmed: 'true' },
      'The filter contains a character that cannot be stored',
    )
    const toCursor = (...parts: readonly unknown[]) =>
      Buffer.from(JSON.stringify(parts)).toString('base64url')
    const id = '00000000-0000-4000-8000-000000000001'
    for (const cursor of [
      'x',
      toCursor('email desc', 'a', id),
      toCursor('created_at asc', 'soon', id),
      toCursor('created_at asc', '2026-01-01 00:00:00+00', '-'.repeat(36)),
      toCursor('created_at asc', 7, id),
    ]) {
      await refuses(
        { order_by: 'created_at', cursor },
        'Bad Pagination Parameters: cursor must be the next_cursor of a response with the same filters and order_by',
      )
    }
  })
})
