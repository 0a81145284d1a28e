import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import test from 'node:test'
import type { LoadJob } from '../load/job.ts'
import { prepareLoad } from '../load/prepare-load.ts'
import { openHttp2Server } from './support/http2-server.ts'

const usual = {
  requests: { values: 'many', descriptors: 1, rules: 10 },
  hasChangingHeaders: false,
  firstUnique: 0,
  connections: 2,
} as const

async function runOnce(job: LoadJob) {
  const load = await prepareLoad(job)
  try {
    return await load.run()
  } finally {
    load.close()
  }
}

test('an exact number of calls is made, and their responses are counted by code', async (t) => {
  const { target, calls } = await openHttp2Server(t, (call) => ({ code: call % 4 === 0 ? 2 : 1 }))
  const pace = { kind: 'count', streams: 5, calls: 200 } as const
  const outcome = await runOnce({ ...usual, target, pace })
  assert.equal(calls.length, 200)
  assert.deepEqual(
    { ok: outcome.ok, overLimit: outcome.overLimit, errors: outcome.errors },
    { ok: 150, overLimit: 50, errors: 0 },
  )
  assert.ok(outcome.p50Ms > 0 && outcome.p50Ms <= outcome.p99Ms)
  assert.ok(outcome.p99Ms <= outcome.p999Ms)
})

test('the calls are valid gRPC with the planned descriptors', async (t) => {
  const { target, calls } = await openHttp2Server(t, () => ({ code: 1 }))
  const requests = { values: 'many', descriptors: 3, rules: 10 } as const
  const pace = { kind: 'count', streams: 1, calls: 3 } as const
  await runOnce({ ...usual, target, requests, pace, connections: 1 })
  for (const { headers, request } of calls) {
    assert.equal(headers[':path'], '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit')
    assert.equal(headers['content-type'], 'application/grpc')
    assert.equal(headers.te, 'trailers')
    assert.equal(request.domain, 'bench')
    assert.equal(request.descriptors.length, 3)
  }
  const [tenant, path] = calls[1]?.request.descriptors[2]?.entries ?? []
  assert.deepEqual([tenant?.key, tenant?.value], ['tenant', 'tenant-000000'])
  assert.deepEqual([path?.key, path?.value], ['path', '/v1/2/0000000005'])
})

test('unique values never repeat, and start at the configured value', async (t) => {
  const { target, calls } = await openHttp2Server(t, () => ({ code: 1 }))
  const requests = { values: 'unique', descriptors: 2, rules: 10 } as const
  const pace = { kind: 'count', streams: 4, calls: 150 } as const
  await runOnce({ ...usual, target, requests, pace, firstUnique: 7_000 })
  const values = calls.flatMap(({ request }) =>
    request.descriptors.map(({ entries }) => entries[1]?.value.split('/').at(-1)),
  )
  assert.equal(new Set(values).size, 300)
  assert.deepEqual([values.toSorted()[0], values.toSorted().at(-1)], ['0000007000', '0000007299'])
})

test('the time limit changes from call to call with changing headers', async (t) => {
  const { target, calls } = await openHttp2Server(t, () => ({ code: 1 }))
  const pace = { kind: 'count', streams: 2, calls: 10 } as const
  await runOnce({ ...usual, target, pace, hasChangingHeaders: true, connections: 1 })
  const timeouts = calls.map(({ headers }) => headers['grpc-timeout'])
  assert.equal(new Set(timeouts).size, 10)
  for (const timeout of timeouts) assert.match(String(timeout), /^90\d{6}u$/)
})

test('a status without a message and a reset stream count as errors', async (t) => {
  const { target } = await openHttp2Server(t, (call) =>
    call % 3 === 0 ? { grpcStatus: 2 } : call % 3 === 1 ? { reset: true } : { code: 1 },
  )
  const pace = { kind: 'count', streams: 3, calls: 30 } as const
  const { ok, errors } = await runOnce({ ...usual, target, pace })
  assert.deepEqual({ ok, errors }, { ok: 10, errors: 20 })
})

test('calls wait for the window of the server and continue when it opens', async (t) => {
  const { target, calls } = await openHttp2Server(t, () => ({ code: 1 }))
  // 200 calls with ten descriptors exceed the initial window of 64 KiB.
  const requests = { values: 'many', descriptors: 10, rules: 10 } as const
  const pace = { kind: 'count', streams: 200, calls: 400 } as const
  const { ok } = await runOnce({ ...usual, target, requests, pace, connections: 1 })
  assert.equal(ok, 400)
  assert.equal(calls.length, 400)
})

test('pings of the server are answered', async (t) => {
  const { target, sessions } = await openHttp2Server(t, () => ({ code: 1 }))
  const pace = { kind: 'count', streams: 1, calls: 1 } as const
  const load = await prepareLoad({ ...usual, target, pace, connections: 1 })
  t.after(() => load.close())
  const [session] = sessions
  const payload = Buffer.from('12345678')
  const echoed = await new Promise((resolve, reject) => {
    session?.ping(payload, (error, _durationMs, bytes) => (error ? reject(error) : resolve(bytes)))
  })
  assert.deepEqual(echoed, payload)
})

test('a steady load makes its calls on time and measures latency from the time they were due', async (t) => {
  const { target, calls } = await openHttp2Server(t, () => ({ code: 1 }))
  const pace = { kind: 'open', perSecond: 500, seconds: 0.4 } as const
  const { ok, seconds } = await runOnce({ ...usual, target, pace })
  assert.equal(ok, 200)
  assert.equal(calls.length, 200)
  assert.ok(seconds > 0.39, `${seconds} s`)
})

test('a server that closes the connection is reported with its address', async (t) => {
  const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  const target = { host: '127.0.0.1', port: address.port }
  const pace = { kind: 'count', streams: 1, calls: 1 } as const
  await assert.rejects(prepareLoad({ ...usual, target, pace }), {
    message: new RegExp(`^The server at 127.0.0.1:${address.port} failed under load: `),
  })
})
