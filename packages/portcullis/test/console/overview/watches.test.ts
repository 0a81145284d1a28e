import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { createOverview } from '../../../src/console/overview/overview.ts'
import { watchDecisions, watchHealth } from '../../../src/console/overview/watch.ts'
import { watchActivity } from '../../../src/console/overview/watch-activity.ts'

const { signal } = new AbortController()

async function serve(t: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('a restart and an outage appear as zero and as a gap, never as a spike', async (t) => {
  let hits: number | undefined = 1_000_000
  const debugUrl = await serve(t, (_request, response) => {
    if (hits === undefined) response.writeHead(503).end()
    else response.end(`ratelimit.service.rate_limit.d.k.total_hits: ${hits}\n`)
  })
  const watch = watchDecisions({ debugUrl })
  await watch.refresh(signal)
  const nothing = watch.state('15m').points.every((point) => point === null)
  assert.ok(nothing, 'decisions before the first reading are not counted')
  await watch.refresh(signal)
  hits = 0
  await watch.refresh(signal)
  hits = undefined
  await watch.refresh(signal)
  assert.match(watch.state('15m').fault ?? '', /status 503/)
  hits = 2_000_000
  await watch.refresh(signal)
  await watch.refresh(signal)
  const { sums, fault, points } = watch.state('15m')
  assert.equal(sums.hits, 0)
  assert.ok(points.some((point) => point?.total === 0))
  assert.equal(fault, undefined)
})

interface Line {
  readonly id: string
  readonly at: number
  readonly action: string
}

/** An audit log with the same paging as the auth server. */
async function serveAudit(t: TestContext, log: Line[]) {
  const authorizations: string[] = []
  const url = await serve(t, (request, response) => {
    const { searchParams, pathname } = new URL(request.url ?? '', 'http://auth')
    // Imitates an auth server that does not count sign-ins.
    if (pathname !== '/admin/audit') return void response.writeHead(404).end()
    authorizations.push(request.headers.authorization ?? '')
    const size = Number(searchParams.get('per_page'))
    const offset = (Number(searchParams.get('page')) - 1) * size
    const entries = log
      .toSorted((a, b) => b.at - a.at)
      .slice(offset, offset + size)
      .map(({ id, at, action }) => ({
        id,
        created_at: new Date(at).toISOString(),
        ip_address: '127.0.0.1',
        payload: { action, actor_id: 'u1', actor_username: 'ada@example.com' },
      }))
    response.end(JSON.stringify(entries))
  })
  return { authorizations, watch: watchActivity({ url, key: async () => 'secret' }) }
}

const sumNow = (watch: ReturnType<typeof watchActivity>) => watch.state('15m').current?.succeeded

test('sign-ins are counted once even if the log is read repeatedly, including late entries', async (t) => {
  const now = Date.now()
  const log: Line[] = [
    { id: 'a', at: now, action: 'login' },
    { id: 'b', at: now - 1, action: 'token_refreshed' },
    { id: 'c', at: now - 3_600_000, action: 'user_signedup' },
  ]
  const { watch, authorizations } = await serveAudit(t, log)
  await watch.refresh(signal)
  await watch.refresh(signal)
  assert.equal(sumNow(watch), 1)
  assert.deepEqual(
    watch.state('15m').events.map(({ entry }) => entry.id),
    ['a', 'c'],
    'automatic actions of clients are left out',
  )
  log.push({ id: 'd', at: now, action: 'login' }, { id: 'e', at: now - 2_000, action: 'login' })
  await watch.refresh(signal)
  await watch.refresh(signal)
  assert.equal(sumNow(watch), 3)
  assert.equal(authorizations.length, 4)
  assert.equal(authorizations[0], 'Bearer secret')
})

test('a very long log is read in part, and marked as partial', async (t) => {
  const now = Date.now()
  const log = Array.from({ length: 3_000 }, (_, i) => ({
    id: `${i}`,
    at: now - (i % 1_000),
    action: 'login',
  }))
  const { watch, authorizations } = await serveAudit(t, log)
  await watch.refresh(signal)
  assert.equal(authorizations.length, 5)
  assert.equal(watch.state('15m').isPartial, true)
  assert.equal(sumNow(watch), 1_000)
})

test('a missing audit log of the auth server is reported', async (t) => {
  const url = await serve(t, (_request, response) => response.writeHead(404).end())
  const watch = watchActivity({ url, key: async () => 'secret' })
  await watch.refresh(signal)
  assert.equal(watch.state('15m').fault, 'This auth server does not provide its audit log.')
})

test('the time since which a part is in its state is kept until the state changes', async () => {
  let state: 'up' | 'down' = 'up'
  const watch = watchHealth({ console: async () => ({ state }) })
  await watch.refresh(signal)
  const [first] = watch.state('15m')
  await watch.refresh(signal)
  assert.equal(watch.state('15m')[0]?.since, first?.since)
  state = 'down'
  await watch.refresh(signal)
  assert.equal(watch.state('15m')[0]?.state, 'down')
})

test('decisions are measured while no page is open, and as often for many pages as for one', async (t) => {
  let reads = 0
  const firstAsked = Promise.withResolvers<void>()
  const debugUrl = await serve(t, (request, response) => {
    if (request.url === '/stats') reads += 1
    response.end('ratelimit.service.rate_limit.d.k.total_hits: 1\n/stats')
    firstAsked.resolve()
  })
  const settings = { host: '', port: 0, token: '', version: '1', ratelimit: { debugUrl } }
  using overview = createOverview(settings)
  await firstAsked.promise
  const received: string[][] = [[], [], []]
  const receivedDecisions = Promise.withResolvers<void>()
  const stops = received.map((names) =>
    overview.watch((section) => {
      names.push(section)
      if (received.every((each) => each.includes('decisions'))) receivedDecisions.resolve()
    }, '15m'),
  )
  await receivedDecisions.promise
  const many = reads
  for (const stop of stops) stop()
  assert.ok(many <= (received[0]?.length ?? 0) + 1)
  const late: string[] = []
  overview.watch((section) => late.push(section), '24h')()
  assert.ok(late.includes('decisions'), 'a later listener receives the known state at once')
})
