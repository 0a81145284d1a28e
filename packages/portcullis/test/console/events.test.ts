import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { type TestContext, test } from 'node:test'
import type { EventPage, EventTail } from '../../src/console/routes/events.ts'
import { addEvents, type EventList, mostRows } from '../../src/web/pages/events/event-list.ts'
import { openConsoleWithAuth } from '../support/console-with-auth.ts'

const userId = '3f0c8a52-6d0c-4c3e-9a57-0d0f6f0a1b2c'

function createEntry(number: number) {
  return {
    id: `00000000-0000-4000-8000-${`${number}`.padStart(12, '0')}`,
    created_at: new Date(1_800_000_000_000 + number).toISOString(),
    ip_address: '203.0.113.5',
    payload: { action: 'login', actor_id: userId, actor_username: 'ada@example.com' },
  }
}

type Answer = (search: URLSearchParams, response: ServerResponse) => unknown

/** Opens a console with an auth server whose responses the test decides. */
async function openEvents(t: TestContext, answer: Answer) {
  const { url, headers } = await openConsoleWithAuth(t, (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://auth')
    assert.equal(pathname, '/admin/events')
    assert.equal(request.headers.authorization, 'Bearer secret')
    response.setHeader('content-type', 'application/json')
    const body = answer(searchParams, response)
    if (body !== undefined) response.end(JSON.stringify(body))
  })
  return {
    call: (path: string, more: RequestInit = {}) => fetch(`${url}${path}`, { headers, ...more }),
  }
}

/** Yields the messages of an event stream. */
async function* readStream({ body }: Response) {
  assert.ok(body)
  let text = ''
  for await (const part of body.pipeThrough(new TextDecoderStream())) {
    text += part
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const [, name, data] = /event: (\w+)\ndata: (.*)/.exec(text.slice(0, end)) ?? []
      text = text.slice(end + 2)
      if (name !== undefined && data !== undefined) yield { name, data: JSON.parse(data) }
    }
  }
}

test('GET /api/events forwards the filters, and adds the user of each event', async (t) => {
  const searches: string[] = []
  const { call } = await openEvents(t, (search) => {
    searches.push(`${search}`)
    return { events: [createEntry(1), 'not an entry'], next: 'older', latest: 'now' }
  })
  const answer = await call('/api/events?user=a&address=b&failed=true&before=c&limit=5&other=x')
  assert.equal(answer.status, 200)
  const page = (await answer.json()) as EventPage
  assert.deepEqual(searches, ['user=a&address=b&failed=true&before=c&limit=5'])
  assert.deepEqual([page.next, page.latest], ['older', 'now'])
  assert.deepEqual(
    page.events.map(({ user, at }) => [user, at]),
    [[{ id: userId, name: 'ada@example.com' }, 1_800_000_000_001]],
  )
})

test('GET /api/events reports refusals of the auth server', async (t) => {
  let status = 400
  const { call } = await openEvents(t, (_, response) => {
    response.statusCode = status
    return { msg: 'address must be an IP address' }
  })
  const refusals = [
    [400, 400, 'bad_search', /^address must be an IP address$/],
    [403, 502, 'key_refused', /refused the service key/],
    [404, 404, 'events_missing', /no endpoint \/admin\/events/],
    [500, 502, 'upstream_unexpected', /status 500/],
  ] as const
  for (const [upstream, expected, code, message] of refusals) {
    status = upstream
    const answer = await call('/api/events')
    const { error } = (await answer.json()) as { error: { code: string; message: string } }
    assert.deepEqual([answer.status, error.code], [expected, code])
    assert.match(error.message, message)
  }
  const missing = await call('/api/events/stream')
  assert.equal(missing.status, 400)
  assert.match(await missing.text(), /parameter \\"after\\" is missing/)
  assert.equal((await call('/api/events', { headers: {} })).status, 401)
})

test('the stream continues where it was, also after a failure of the auth server', async (t) => {
  const positions: string[] = []
  const { call } = await openEvents(t, (search, response) => {
    const after = Number(search.get('after'))
    positions.push(`${search}`)
    // The second call fails, and is repeated with the same position.
    if (positions.length === 2) {
      response.statusCode = 503
      return { msg: 'unavailable' }
    }
    return { events: after < 3 ? [createEntry(after)] : [], next: null, latest: `${after + 1}` }
  })
  const leaving = new AbortController()
  const answer = await call('/api/events/stream?user=a&after=1', { signal: leaving.signal })
  const ids: string[] = []
  const faults: string[] = []
  for await (const { name, data } of readStream(answer)) {
    if (name === 'fault') faults.push(data)
    else ids.push(...(data as EventTail).events.map(({ entry }) => entry.id))
    if (ids.length === 2) break
  }
  leaving.abort()
  assert.deepEqual(ids, [createEntry(1).id, createEntry(2).id])
  assert.match(faults[0] ?? '', /status 503/)
  assert.deepEqual(positions.slice(0, 3), [
    'user=a&after=1&limit=200',
    'user=a&after=2&limit=200',
    'user=a&after=2&limit=200',
  ])
})

test('the list keeps the newest events, each once, in the order of the server', () => {
  const toEvent = (number: number) => {
    const entry = createEntry(number)
    const user = { id: userId, name: '' }
    return { entry, at: Date.parse(entry.created_at), user }
  }
  const range = (first: number, last: number) =>
    Array.from({ length: last - first + 1 }, (_, index) => toEvent(last - index))
  const start: EventList = { events: range(1, mostRows), next: null }
  const more = addEvents(start, [...range(mostRows - 1, mostRows + 5)].reverse())
  assert.equal(more.events.length, mostRows)
  assert.deepEqual(more.events, range(6, mostRows + 5))
  const last = createEntry(6)
  assert.equal(more.next, `${last.created_at}_${last.id}`)

  const withTime = (created_at: string) => ({
    ...toEvent(1),
    entry: { ...createEntry(1), created_at, id: created_at },
  })
  const times = ['2026-01-01T00:00:01Z', '2026-01-01T00:00:00.2Z', '2026-01-01T00:00:00.150001Z']
  const { events } = addEvents({ events: [], next: 'x' }, times.map(withTime).reverse())
  assert.deepEqual(
    events.map(({ entry }) => entry.id),
    times,
  )
})
