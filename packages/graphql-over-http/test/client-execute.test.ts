import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { createClient, NetworkError } from '../src/client.ts'
import {
  openClientServer,
  respond,
  scriptFetch,
  sendJson,
  settle,
} from './support/client-server.ts'

const REQUEST = { query: '{ hello }' }
const never = (): Promise<never> => new Promise(() => {})

test('execute resolves to the result', async (t) => {
  const server = await openClientServer(t, (res) => sendJson(res, { data: { hello: 'world' } }))
  const client = createClient({ url: server.url })
  assert.deepEqual(await client.execute(REQUEST), { data: { hello: 'world' } })
})

test('execute rejects with what error would receive', async () => {
  const { fetchFn } = scriptFetch(respond('{}', { status: 503 }), new Response('{}'))
  const client = createClient({ url: 'http://test', fetchFn })
  await assert.rejects(client.execute(REQUEST), NetworkError)
  await assert.rejects(client.execute(REQUEST), {
    name: 'Error',
    message: 'Unsupported response content-type text/plain;charset=UTF-8',
  })
})

test('aborting the signal aborts the fetch and rejects with the reason', async () => {
  const { calls, fetchFn } = scriptFetch(never(), never())
  const client = createClient({ url: 'http://test', fetchFn })
  const reason = new Error('changed my mind')
  const [withReason, without] = [new AbortController(), new AbortController()]
  const results = Promise.allSettled([
    client.execute(REQUEST, { signal: withReason.signal }),
    client.execute(REQUEST, { signal: without.signal }),
  ])

  withReason.abort(reason)
  without.abort()

  const [first, second] = await results
  assert.ok(first.status === 'rejected' && first.reason === reason)
  assert.ok(second.status === 'rejected' && second.reason.name === 'AbortError')
  assert.deepEqual(
    calls.map(({ init }) => init.signal.aborted),
    [true, true],
  )
})

test('a signal that is aborted already sends nothing', async () => {
  const { calls, fetchFn } = scriptFetch(respond('{}'))
  const client = createClient({ url: 'http://test', fetchFn })
  const reason = new Error('too late')
  await assert.rejects(
    client.execute(REQUEST, { signal: AbortSignal.abort(reason) }),
    (error) => error === reason,
  )
  assert.equal(calls.length, 0)
})

test('a timeout signal ends a request that takes too long', async (t) => {
  const server = await openClientServer(t, () => {})
  const client = createClient({ url: server.url })
  await assert.rejects(client.execute(REQUEST, { signal: AbortSignal.timeout(20) }), {
    name: 'TimeoutError',
  })
})

test('disposing of the client rejects pending execute calls with an abort error', async () => {
  const client = createClient({ url: 'http://test', fetchFn: never })
  const pending = client.execute(REQUEST)
  client.dispose()
  await assert.rejects(pending, { name: 'AbortError', message: 'Request was aborted' })
})

test('a signal shared by many requests carries a listener only for those in flight', async () => {
  const { signal } = new AbortController()
  const listeners = () => getEventListeners(signal, 'abort').length
  const gate = Promise.withResolvers<void>()
  let count = 0
  const client = createClient({
    url: 'http://test',
    fetchFn: async () => {
      const index = count++
      await gate.promise
      if (index % 3 === 1) throw new Error('down')
      return index % 3 ? new Response('no result') : respond('{}')
    },
  })

  const pending = Array.from({ length: 5 }, () => client.execute(REQUEST, { signal }))
  assert.equal(listeners(), 5)
  gate.resolve()
  await Promise.allSettled(pending)
  assert.equal(listeners(), 0)

  for (let round = 0; round < 20; round++) {
    await Promise.allSettled(Array.from({ length: 100 }, () => client.execute(REQUEST, { signal })))
    assert.equal(listeners(), 0)
  }
})

test('iterate yields the single result', async (t) => {
  const server = await openClientServer(t, (res) => sendJson(res, { data: { hello: 'world' } }))
  const results: unknown[] = []
  for await (const result of createClient({ url: server.url }).iterate(REQUEST)) {
    results.push(result)
  }
  assert.deepEqual(results, [{ data: { hello: 'world' } }])
  assert.equal(server.received.length, 1)
})

test('leaving the loop early is not a failure', async () => {
  const { calls, fetchFn } = scriptFetch(respond('{"data":{}}'))
  for await (const result of createClient({ url: 'http://test', fetchFn }).iterate(REQUEST)) {
    assert.deepEqual(result, { data: {} })
    break
  }
  assert.equal(calls[0]?.init.signal.aborted, false)
})

test('a failed request makes next reject, once', async () => {
  const { fetchFn } = scriptFetch(new Error('down'))
  const iterator = createClient({ url: 'http://test', fetchFn }).iterate(REQUEST)
  await assert.rejects(iterator.next(), { name: 'NetworkError', message: 'down' })
  assert.deepEqual(await iterator.next(), { value: undefined, done: true })
})

test('return aborts the request and ends a next that waits', async () => {
  const { calls, fetchFn } = scriptFetch(never())
  const iterator = createClient({ url: 'http://test', fetchFn }).iterate(REQUEST)
  const waiting = iterator.next()

  assert.deepEqual(await iterator.return?.('bye'), { value: 'bye', done: true })

  assert.deepEqual(await waiting, { value: undefined, done: true })
  assert.deepEqual(await iterator.next(), { value: undefined, done: true })
  assert.equal(calls[0]?.init.signal.aborted, true)
})

test('return before next gives no result, even if it has arrived', async () => {
  const { fetchFn } = scriptFetch(respond('{"data":{}}'))
  const iterator = createClient({ url: 'http://test', fetchFn }).iterate(REQUEST)
  await settle()
  await iterator.return?.()
  assert.deepEqual(await iterator.next(), { value: undefined, done: true })
})

test('an unread iterator fails silently', async (t) => {
  const unhandled = t.mock.fn()
  process.on('unhandledRejection', unhandled)
  t.after(() => process.off('unhandledRejection', unhandled))
  const { calls, fetchFn } = scriptFetch(new Error('down'))
  createClient({ url: 'http://test', fetchFn }).iterate(REQUEST)
  await settle()
  assert.equal(calls.length, 1)
  assert.equal(unhandled.mock.callCount(), 0)
})

test('disposing of the client ends its iterators', async () => {
  const client = createClient({ url: 'http://test', fetchFn: never })
  const waiting = client.iterate(REQUEST).next()
  client.dispose()
  assert.deepEqual(await waiting, { value: undefined, done: true })
})
