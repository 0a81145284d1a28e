import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import test, { type TestContext } from 'node:test'
import type { LoadJob, LoadOutcome } from '../load/job.ts'
import { prepareLoad, toQuantile } from '../load/prepare-load.ts'

type Answer = (body: Record<string, string>) => readonly [status: number, body: object]

/** Responds like a token server and records the tokens it received. */
async function openStandIn(t: TestContext, answer: Answer) {
  const server = createServer(async (request, response) => {
    const sent = await text(request)
    const [status, body] = answer(sent === '' ? {} : JSON.parse(sent))
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  return { host: '127.0.0.1', port: address.port }
}

async function runLoad(t: TestContext, job: LoadJob): Promise<LoadOutcome> {
  const load = await prepareLoad(job)
  t.after(() => load.close())
  return load.run()
}

const usual = { connections: 3, seconds: 0.1, firstUnique: 0, credentials: ['a', 'b', 'c'] }

test('every connection refreshes its own session with its latest token', async (t) => {
  const shown = new Set<string>()
  const target = await openStandIn(t, ({ refresh_token: token = '' }) => {
    assert.ok(!shown.has(token), 'a token was sent twice')
    shown.add(token)
    return [200, { refresh_token: `${token}+` }]
  })
  const outcome = await runLoad(t, { ...usual, target, script: 'refresh' })
  assert.equal(outcome.errors, 0)
  assert.equal(outcome.calls, shown.size)
  assert.deepEqual(
    outcome.credentials.map((token) => token[0]),
    ['a', 'b', 'c'],
  )
  assert.ok(outcome.credentials.every((token) => !shown.has(token)))
})

test('in a storm all connections send one token and continue with its only successor', async (t) => {
  const counts = new Map<string, number>()
  const target = await openStandIn(t, ({ refresh_token: token = '' }) => {
    counts.set(token, (counts.get(token) ?? 0) + 1)
    return [200, { refresh_token: `${token}+` }]
  })
  const outcome = await runLoad(t, { ...usual, target, script: 'storm' })
  assert.equal(outcome.errors, 0)
  assert.deepEqual(new Set(counts.values()), new Set([usual.connections]))
  assert.ok(!counts.has(outcome.credentials[0] ?? ''))
})

test('two successors of one token in a storm are an error', async (t) => {
  let children = 0
  const target = await openStandIn(t, () => [200, { refresh_token: `child-${++children}` }])
  const outcome = await runLoad(t, { ...usual, target, script: 'storm' })
  assert.match(outcome.firstError ?? '', /two successors/)
})

test('error responses are counted, and the first one is returned', async (t) => {
  const target = await openStandIn(t, () => [429, { msg: 'slow down' }])
  const outcome = await runLoad(t, { ...usual, target, script: 'login' })
  assert.ok(outcome.calls > 0)
  assert.equal(outcome.errors, outcome.calls)
  assert.match(outcome.firstError ?? '', /^429 .*slow down/)
})

test('no address is signed up twice', async (t) => {
  const addresses: string[] = []
  const target = await openStandIn(t, ({ email = '' }) => {
    addresses.push(email)
    return [200, {}]
  })
  await runLoad(t, { ...usual, target, script: 'signup' })
  assert.ok(addresses.length > 0)
  assert.equal(new Set(addresses).size, addresses.length)
})

test('probes run beside the load, and their latency is measured separately', async (t) => {
  const target = await openStandIn(t, () => [200, {}])
  const probe = { perSecond: 50, accessToken: 'x' }
  const outcome = await runLoad(t, { ...usual, target, script: 'login', probe })
  assert.ok((outcome.probeP99Ms ?? 0) > 0)
  assert.equal((await runLoad(t, { ...usual, target, script: 'login' })).probeP99Ms, undefined)
})

test('a quantile is a value that was measured', () => {
  assert.equal(toQuantile([4, 1, 3, 2], 0.5), 2)
  assert.equal(toQuantile([4, 1, 3, 2], 0.99), 4)
  assert.ok(Number.isNaN(toQuantile([], 0.5)))
})
