/**
 * @legs main, oldest
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient, NetworkError } from '../../src/client.ts'
import { recordSink, respond, scriptFetch, settle } from '../support/client-server.ts'

const REQUEST = { query: '{ hello }' }

test('fetchFn is called instead of the global fetch', async (t) => {
  const globalFetch = t.mock.method(globalThis, 'fetch', async () => respond('{}'))
  const { calls, fetchFn } = scriptFetch(respond('{"data":{"hello":"mine"}}'))
  const client = createClient({ url: 'http://localhost:4000/graphql', fetchFn })
  assert.deepEqual(await client.execute(REQUEST), { data: { hello: 'mine' } })
  assert.deepEqual(
    calls.map(({ url }) => url),
    ['http://localhost:4000/graphql'],
  )
  assert.equal(globalFetch.mock.callCount(), 0)
})

test('the number of retries and the wait before them are up to shouldRetry alone', async () => {
  const down = () => respond('{}', { status: 503 })
  const { calls, fetchFn } = scriptFetch(...Array.from({ length: 20 }, down), respond('{}'))
  const offered: number[] = []
  const gate = Promise.withResolvers<void>()
  const client = createClient({
    url: 'http://test',
    fetchFn,
    shouldRetry: async (_error, retries) => {
      offered.push(retries)
      if (retries === 19) await gate.promise
      return true
    },
  })
  const sink = recordSink()
  client.subscribe(REQUEST, sink)
  // No timer is involved up to this point.
  while (offered.length < 20) await settle()
  await settle()
  assert.equal(calls.length, 20)
  gate.resolve()
  await sink.ended
  assert.equal(calls.length, 21)
  assert.deepEqual(
    offered,
    Array.from({ length: 20 }, (_, index) => index),
  )
  assert.deepEqual(sink.events, [['next', {}], ['complete']])
})

test('a NetworkError has the response and its numeric status, or no response', async () => {
  const { fetchFn } = scriptFetch(respond('{}', { status: 503 }), new Error('unreachable'))
  const client = createClient({ url: 'http://test', fetchFn })
  const [answered, unanswered] = await Promise.all(
    [client.execute(REQUEST), client.execute(REQUEST)].map((pending) =>
      pending.then(
        () => assert.fail('resolved'),
        (error: unknown) => error,
      ),
    ),
  )
  assert.ok(answered instanceof NetworkError && unanswered instanceof NetworkError)
  assert.equal(answered.response?.status, 503)
  assert.equal(unanswered.response, undefined)
})

test('a headers function can send a token, or no token without a session', async () => {
  const { calls, fetchFn } = scriptFetch(respond('{}'), respond('{}'))
  let session: { readonly token: string } | undefined
  const client = createClient({
    url: 'http://test',
    fetchFn,
    headers: async () => {
      await settle()
      return session && { Authorization: `Bearer ${session.token}` }
    },
  })
  await client.execute(REQUEST)
  session = { token: 'secret' }
  await client.execute(REQUEST)
  assert.deepEqual(
    calls.map(({ init }) => init.headers['authorization']),
    [undefined, 'Bearer secret'],
  )
})
