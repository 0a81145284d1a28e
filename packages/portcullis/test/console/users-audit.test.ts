import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { UserAudit } from '../../src/console/routes/users-audit.ts'
import { openConsoleWithAuth } from '../support/console-with-auth.ts'

const userId = '3f0c8a52-6d0c-4c3e-9a57-0d0f6f0a1b2c'
const logSize = 2_500
/** Every hundredth entry is about the user, alternately as the actor and as the target of an administrator. */
const log = Array.from({ length: logSize }, (_, index) => ({
  id: `entry ${index}`,
  created_at: new Date(1_800_000_000_000 - index).toISOString(),
  ip_address: '127.0.0.1',
  payload: {
    action: 'login',
    actor_id: index % 200 === 0 ? userId : 'another user',
    actor_username: 'ada@example.com',
    ...(index % 200 === 100 && { traits: { user_id: userId } }),
  },
}))
const own = log.filter((_, index) => index % 100 === 0)

/** Its time is between the first two entries of the user. */
const failure = {
  id: 'failure',
  user_id: userId,
  name: 'ada@example.com',
  reason: 'wrong_password',
  ip_address: '192.0.2.1',
  count: 3,
  first_at: new Date(1_799_999_999_000).toISOString(),
  last_at: new Date(1_799_999_999_950).toISOString(),
}

/** Opens a console with an auth server that can or cannot search its log by user. */
async function openTrail(t: TestContext, { canSearch }: { readonly canSearch: boolean }) {
  const requests: string[] = []
  const { url, headers } = await openConsoleWithAuth(t, (request, response) => {
    const { searchParams, pathname } = new URL(request.url ?? '', 'http://auth')
    if (pathname === '/admin/sign-in-failures') {
      response.statusCode = canSearch ? 200 : 404
      response.setHeader('content-type', 'application/json')
      return response.end(JSON.stringify(canSearch ? [failure] : {}))
    }
    const search = searchParams.get('query')
    requests.push(search ?? `page ${searchParams.get('page')}`)
    response.setHeader('content-type', 'application/json')
    if (search !== null && !canSearch) {
      response.statusCode = 400
      return response.end(JSON.stringify({ code: 400, msg: `Invalid query scope: ${search}` }))
    }
    const found = search === null ? log : own
    const size = Number(searchParams.get('per_page'))
    const offset = (Number(searchParams.get('page')) - 1) * size
    response.setHeader('x-total-count', found.length)
    response.end(JSON.stringify(found.slice(offset, offset + size)))
  })
  const read = async (from: number): Promise<UserAudit> => {
    requests.length = 0
    const answer = await fetch(`${url}/api/users/${userId}/audit?from=${from}`, { headers })
    assert.equal(answer.status, 200)
    return JSON.parse(await answer.text())
  }
  return { requests, read }
}

test('the activity of a user is requested by id', async (t) => {
  const { requests, read } = await openTrail(t, { canSearch: true })
  const trail = await read(1)
  assert.deepEqual(requests, [`user:${userId}`])
  const { entries, ...rest } = trail
  assert.deepEqual(rest, { counts: 'user', read: own.length, total: own.length })
  assert.deepEqual(
    entries.map(({ id }) => id),
    [own[0]?.id, 'failure', ...own.slice(1).map(({ id }) => id)],
    'in chronological order',
  )
  assert.deepEqual(entries[1]?.payload.traits?.['count'], 3)
})

test('a log that cannot be searched by user is read until enough entries are found', async (t) => {
  const { requests, read } = await openTrail(t, { canSearch: false })
  const { entries, ...progress } = await read(1)
  assert.deepEqual(requests, [`user:${userId}`, 'page 1', 'page 2'])
  assert.deepEqual(progress, { counts: 'log', read: 2_000, total: logSize, next: 3 })
  const rest = await read(3)
  assert.deepEqual([...entries, ...rest.entries], own)
  assert.equal(rest.next, undefined)
})
