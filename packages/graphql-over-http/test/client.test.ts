import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient } from '../src/client.ts'
import {
  openClientServer,
  recordSink,
  respond,
  scriptFetch,
  sendJson,
} from './support/client-server.ts'

const QUERY = '{ hello }'
const RESULT = { data: { hello: 'world' } }

test('a request is a POST of its parameters, and its result goes to next and then complete', async (t) => {
  const server = await openClientServer(t, (res) => sendJson(res, RESULT))
  const sink = recordSink()

  createClient({ url: server.url }).subscribe(
    { query: 'query Q($a: Int) { hello }', operationName: 'Q', variables: { a: 1 } },
    sink,
  )
  assert.deepEqual(sink.events, [], 'nothing may be reported before subscribe returns')
  await sink.ended

  assert.deepEqual(sink.events, [['next', RESULT], ['complete']])
  assert.equal(server.received.length, 1)
  assert.equal(server.received[0]?.method, 'POST')
  assert.equal(server.received[0]?.url, '/graphql')
  assert.deepEqual(JSON.parse(server.received[0]?.body ?? ''), {
    query: 'query Q($a: Int) { hello }',
    operationName: 'Q',
    variables: { a: 1 },
  })
})

test('the body has only the four parameters of the specification, nulls kept', async () => {
  const { calls, fetchFn } = scriptFetch(respond('{}'))
  const request = {
    query: QUERY,
    operationName: null,
    variables: { é: '💥' },
    extensions: { trace: true },
    id: 'mine',
    toString: 'mine too',
  }

  await createClient({ url: 'http://test', fetchFn }).execute(request)

  assert.equal(
    calls[0]?.init.body,
    '{"query":"{ hello }","operationName":null,"variables":{"é":"💥"},"extensions":{"trace":true}}',
  )
})

test('the request headers state the sent and the accepted types', async (t) => {
  const server = await openClientServer(t, (res) => sendJson(res, RESULT))

  await createClient({ url: server.url }).execute({ query: QUERY })

  const headers = server.received[0]?.headers
  assert.equal(headers?.['content-type'], 'application/json; charset=utf-8')
  assert.equal(headers?.accept, 'application/graphql-response+json, application/json;q=0.9')
})

test('custom headers are sent in lower case, and never replace or duplicate protocol headers', async (t) => {
  const server = await openClientServer(t, (res) => sendJson(res, RESULT))
  const client = createClient({
    url: server.url,
    headers: {
      Authorization: 'Bearer 1',
      'X-Twice': 'first',
      'x-twice': 'second',
      Accept: 'text/html',
      ACCEPT: 'text/plain',
      'Content-Type': 'text/plain',
      'x-unset': undefined,
    },
  })

  await client.execute({ query: QUERY })

  const headers = server.received[0]?.headers
  assert.equal(headers?.authorization, 'Bearer 1')
  assert.equal(headers?.['x-twice'], 'second')
  assert.equal(headers?.accept, 'application/graphql-response+json, application/json;q=0.9')
  assert.equal(headers?.['content-type'], 'application/json; charset=utf-8')
  assert.equal('x-unset' in (headers ?? {}), false)
})

for (const [kind, headers] of [
  ['a Headers object', new Headers({ 'X-Key': 'value' })],
  ['a Map', new Map([['X-Key', 'value']])],
  ['a function', () => ({ 'X-Key': 'value' })],
  ['an async function', async () => ({ 'X-Key': 'value' })],
] as const) {
  test(`headers may be ${kind}`, async () => {
    const { calls, fetchFn } = scriptFetch(respond('{}'))
    await createClient({ url: 'http://test', fetchFn, headers }).execute({ query: QUERY })
    assert.equal(calls[0]?.init.headers['x-key'], 'value')
  })
}

for (const [kind, headers] of [
  ['null', () => null],
  ['nothing', () => {}],
  ['a promise of nothing', async () => {}],
] as const) {
  test(`a headers function that returns ${kind} adds no header`, async () => {
    const { calls, fetchFn } = scriptFetch(respond('{}'))
    await createClient({ url: 'http://test', fetchFn, headers }).execute({ query: QUERY })
    assert.deepEqual(Object.keys(calls[0]?.init.headers ?? {}).sort(), ['accept', 'content-type'])
  })
}

test('a header map is read again for each request', async () => {
  const { calls, fetchFn } = scriptFetch(respond('{}'), respond('{}'))
  const headers: Record<string, string> = { authorization: 'old' }
  const client = createClient({ url: 'http://test', fetchFn, headers })

  await client.execute({ query: QUERY })
  headers['authorization'] = 'new'
  await client.execute({ query: QUERY })

  assert.deepEqual(
    calls.map(({ init }) => init.headers['authorization']),
    ['old', 'new'],
  )
})

test('the url may be a function of the request, sync or async', async () => {
  const { calls, fetchFn } = scriptFetch(respond('{}'), respond('{}'))
  const request = { query: QUERY, operationName: 'Named' }

  await createClient({
    url: ({ operationName }) => `http://test/?${operationName}`,
    fetchFn,
  }).execute(request)
  await createClient({ url: async () => 'http://other', fetchFn }).execute(request)

  assert.deepEqual(
    calls.map(({ url }) => url),
    ['http://test/?Named', 'http://other'],
  )
})

test('fetch receives credentials, referrer and referrerPolicy only when they are set', async () => {
  const { calls, fetchFn } = scriptFetch(respond('{}'), respond('{}'))
  const set = { credentials: 'include', referrer: '', referrerPolicy: 'origin' } as const

  await createClient({ url: 'http://test', fetchFn }).execute({ query: QUERY })
  await createClient({ url: 'http://test', fetchFn, ...set }).execute({ query: QUERY })

  assert.deepEqual(Object.keys(calls[0]?.init ?? {}).sort(), [
    'body',
    'headers',
    'method',
    'signal',
  ])
  assert.partialDeepStrictEqual(calls[1]?.init, set)
})

test('the global fetch is taken when the client is created and called without a receiver', async (t) => {
  const original = globalThis.fetch
  t.after(() => {
    globalThis.fetch = original
  })
  let receiver: unknown = 'not called'
  globalThis.fetch = async function (this: unknown) {
    // oxlint-disable-next-line typescript/no-this-alias -- the test checks the receiver itself
    receiver = this
    return respond('{"data":{"from":"first"}}')
  }
  const client = createClient({ url: 'http://test' })
  globalThis.fetch = async () => respond('{"data":{"from":"second"}}')

  assert.deepEqual(await client.execute({ query: QUERY }), { data: { from: 'first' } })
  // A browser's fetch throws "Illegal invocation" when it is called as a method of an object.
  assert.equal(receiver, undefined)
})

test('sink methods are called as methods, so that observer classes work', async () => {
  class Observer {
    readonly seen: string[] = []
    next(): void {
      this.seen.push('next')
    }
    error(): void {
      this.seen.push('error')
    }
    complete(): void {
      this.seen.push('complete')
    }
  }
  const good = new Observer()
  const bad = new Observer()
  const { fetchFn } = scriptFetch(respond('{}'), new Error('down'))
  const client = createClient({ url: 'http://test', fetchFn })

  client.subscribe({ query: QUERY }, good)
  client.subscribe({ query: QUERY }, bad)
  await new Promise((resolve) => setImmediate(resolve))

  assert.deepEqual(good.seen, ['next', 'complete'])
  assert.deepEqual(bad.seen, ['error'])
})
