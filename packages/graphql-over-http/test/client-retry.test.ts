import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { createClient, NetworkError } from '../src/client.ts'
import {
  openClientServer,
  recordSink,
  respond,
  scriptFetch,
  sendJson,
  settle,
} from './support/client-server.ts'

const REQUEST = { query: '{ hello }' }
const unavailable = () => respond('{}', { status: 503, statusText: 'Service Unavailable' })

test('a request is repeated as long as shouldRetry says so, counting from zero', async (t) => {
  const server = await openClientServer(t, (res, _, index) =>
    sendJson(res, { data: {} }, { status: index < 3 ? 503 : 200 }),
  )
  const offered: [number | undefined, number][] = []
  const sink = recordSink()
  const client = createClient({
    url: server.url,
    shouldRetry: async (error, retries) => {
      offered.push([error.response?.status, retries])
      return true
    },
  })

  client.subscribe(REQUEST, sink)
  await sink.ended

  assert.deepEqual(offered, [
    [503, 0],
    [503, 1],
    [503, 2],
  ])
  assert.deepEqual(sink.events, [['next', { data: {} }], ['complete']])
  assert.equal(server.received.length, 4)
})

test('without shouldRetry a failed request is sent once', async () => {
  const { calls, fetchFn } = scriptFetch(unavailable())
  await assert.rejects(createClient({ url: 'http://test', fetchFn }).execute(REQUEST), NetworkError)
  assert.equal(calls.length, 1)
})

test('when shouldRetry says no, the last NetworkError is reported', async () => {
  const { calls, fetchFn } = scriptFetch(new Error('first'), new Error('second'), new Error('last'))
  const sink = recordSink()
  createClient({
    url: 'http://test',
    fetchFn,
    shouldRetry: (_, retries) => retries < 2,
  }).subscribe(REQUEST, sink)
  await sink.ended

  assert.equal(calls.length, 3)
  assert.deepEqual(sink.events.map(String), ['error,NetworkError: last'])
})

test('an error thrown by shouldRetry is reported instead', async () => {
  const fatal = new Error('fatal')
  const { fetchFn } = scriptFetch(unavailable())
  const client = createClient({
    url: 'http://test',
    fetchFn,
    shouldRetry: async () => {
      throw fatal
    },
  })
  await assert.rejects(client.execute(REQUEST), (error) => error === fatal)
})

test('url and headers functions are called for each attempt, and the parameters stay those of the first', async () => {
  const { calls, fetchFn } = scriptFetch(unavailable(), respond('{}'))
  const variables = { n: 1 }
  let attempt = 0
  const client = createClient({
    url: () => `http://test/${++attempt}`,
    headers: () => ({ 'x-attempt': String(attempt) }),
    fetchFn,
    shouldRetry: () => {
      variables.n = 2
      return true
    },
  })

  await client.execute({ ...REQUEST, variables })

  assert.deepEqual(
    calls.map(({ url, init }) => [url, init.headers['x-attempt'], JSON.parse(init.body).variables]),
    [
      ['http://test/1', '1', { n: 1 }],
      ['http://test/2', '2', { n: 1 }],
    ],
  )
})

for (const option of ['url', 'headers'] as const) {
  test(`an error thrown by the ${option} function is reported, not retried, even a NetworkError`, async () => {
    const thrown = new NetworkError('no session')
    const { calls, fetchFn } = scriptFetch(respond('{}'))
    let offered = 0
    const client = createClient({
      url: 'http://test',
      fetchFn,
      shouldRetry: () => ++offered < 5,
      [option]: async () => {
        throw thrown
      },
    })
    await assert.rejects(client.execute(REQUEST), (error) => error === thrown)
    assert.deepEqual([calls.length, offered], [0, 0])
  })
}

test('variables that JSON cannot represent are reported, not thrown and not retried', async () => {
  const { calls, fetchFn } = scriptFetch(respond('{}'))
  const sink = recordSink()
  createClient({ url: 'http://test', fetchFn, shouldRetry: () => true }).subscribe(
    { ...REQUEST, variables: { big: 1n } },
    sink,
  )
  assert.deepEqual(sink.events, [])
  await sink.ended
  assert.match(sink.events.join(), /^error,TypeError: .*BigInt/)
  assert.equal(calls.length, 0)
})

test('the connection of a response is freed before the request is repeated', async (t) => {
  const endless: ServerResponse[] = []
  const server = await openClientServer(t, (res, _, index) => {
    if (index === 1) return sendJson(res, { data: {} })
    endless.push(res)
    res.writeHead(503).write('the first part of a body that never ends')
  })
  const client = createClient({ url: server.url, shouldRetry: () => true })

  assert.deepEqual(await client.execute(REQUEST), { data: {} })

  const [response] = endless
  assert.ok(response)
  if (!response.closed) await once(response, 'close')
  assert.equal(response.writableFinished, false)
})

test('the body of a response is cancelled only after shouldRetry, which may read it', async () => {
  const order: string[] = []
  const body = new ReadableStream({ cancel: () => void order.push('cancelled') })
  const { fetchFn } = scriptFetch(new Response(body, { status: 503 }), respond('{}'))
  await createClient({
    url: 'http://test',
    fetchFn,
    shouldRetry: async () => {
      await settle()
      order.push('asked')
      return true
    },
  }).execute(REQUEST)
  assert.deepEqual(order, ['asked', 'cancelled'])

  const { fetchFn: readable } = scriptFetch(
    respond('{"wait":0}', { status: 503 }),
    respond('{"data":{}}'),
  )
  const reader = createClient({
    url: 'http://test',
    fetchFn: readable,
    shouldRetry: async ({ response }) => {
      assert.deepEqual(await response?.json(), { wait: 0 })
      return true
    },
  })
  assert.deepEqual(await reader.execute(REQUEST), { data: {} })
})

test('a body that is a Node stream, as in node-fetch, is destroyed before a retry', async () => {
  let destroyed = 0
  const failed = {
    ok: false,
    status: 503,
    statusText: '',
    headers: new Headers(),
    body: { destroy: () => ++destroyed },
    json: async () => ({}),
  }
  const { fetchFn } = scriptFetch(failed, respond('{}'))
  await createClient({ url: 'http://test', fetchFn, shouldRetry: () => true }).execute(REQUEST)
  assert.equal(destroyed, 1)
})

test('a body that is not read stays open on the last failure', async () => {
  let isCancelled = false
  const body = new ReadableStream({
    cancel: () => {
      isCancelled = true
    },
  })
  const { fetchFn } = scriptFetch(new Response(body, { status: 503 }))
  const client = createClient({ url: 'http://test', fetchFn, shouldRetry: () => false })
  await assert.rejects(client.execute(REQUEST), NetworkError)
  await settle()
  assert.equal(isCancelled, false)
})
