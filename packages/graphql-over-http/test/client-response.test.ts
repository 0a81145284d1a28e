import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ClientOptions, createClient, NetworkError } from '../src/client.ts'
import {
  openClientServer,
  recordSink,
  respond,
  scriptFetch,
  sendJson,
} from './support/client-server.ts'

const REQUEST = { query: '{ hello }' }
const JSON_HEADERS = { 'content-type': 'application/json' }

/**
 * Sends one request through a client that would retry; returns the error and the arguments of
 * shouldRetry.
 */
async function fail(options: Omit<ClientOptions, 'url' | 'shouldRetry'>) {
  const sink = recordSink()
  let offered = 0
  const client = createClient({
    url: 'http://test',
    shouldRetry: () => {
      offered++
      return false
    },
    ...options,
  })
  client.subscribe(REQUEST, sink)
  await sink.ended
  assert.equal(sink.events.length, 1)
  const [name, error] = sink.events[0] ?? []
  assert.equal(name, 'error')
  assert.ok(error instanceof Error)
  return { error, offered }
}

for (const type of [
  'application/graphql-response+json',
  'application/graphql-response+json; charset=utf-8',
  'application/json',
  'Application/JSON; charset="UTF-8"',
]) {
  test(`a result of type ${type} is delivered`, async (t) => {
    const server = await openClientServer(t, (res) => sendJson(res, { data: { ä: 1 } }, { type }))
    const client = createClient({ url: server.url })
    assert.deepEqual(await client.execute(REQUEST), { data: { ä: 1 } })
  })
}

test('any 2xx status is a success, the partial success of 294 too', async (t) => {
  const result = { errors: [{ message: 'half' }], data: { a: null } }
  const server = await openClientServer(t, (res) => sendJson(res, result, { status: 294 }))
  assert.deepEqual(await createClient({ url: server.url }).execute(REQUEST), result)
})

test('a response without streams, as in React Native, is read too', async () => {
  const { body: _, ...response } = {
    ok: true,
    status: 200,
    statusText: '',
    headers: new Headers(JSON_HEADERS),
    body: undefined,
    json: async () => ({ data: {} }),
  }
  const client = createClient({ url: 'http://test', fetchFn: async () => response })
  assert.deepEqual(await client.execute(REQUEST), { data: {} })
})

test('a missing body is an error that is not retried', async () => {
  const { error, offered } = await fail(scriptFetch(respond(null)))
  assert.equal(error.message, 'Missing response body')
  assert.equal(error instanceof NetworkError, false)
  assert.equal(offered, 0)
})

test('a missing content type is an error that is not retried', async () => {
  const { error, offered } = await fail(scriptFetch(new Response(new Uint8Array(2))))
  assert.equal(error.message, 'Missing response content-type')
  assert.equal(error instanceof NetworkError, false)
  assert.equal(offered, 0)
})

test('a content type other than that of a GraphQL result is an error that is not retried', async (t) => {
  const server = await openClientServer(t, (res) => {
    res.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<p>')
  })
  const sink = recordSink()
  createClient({ url: server.url, shouldRetry: () => true }).subscribe(REQUEST, sink)
  await sink.ended
  assert.deepEqual(sink.events, [
    ['error', new Error('Unsupported response content-type text/html; charset=utf-8')],
  ])
  assert.equal(server.received.length, 1)
})

for (const [kind, body] of [
  ['not JSON', '{"data":'],
  ['empty', ''],
] as const) {
  test(`a body that is ${kind} is reported with the SyntaxError, not retried`, async () => {
    const { error, offered } = await fail(scriptFetch(respond(body)))
    assert.equal(error.name, 'SyntaxError')
    assert.equal(offered, 0)
  })
}

test('the first check that fails is the one reported: status, body, content type', async () => {
  const wrongAll = await fail(scriptFetch(new Response(null, { status: 500, statusText: 'Oh' })))
  const wrongBodyAndType = await fail(scriptFetch(new Response(null)))
  assert.equal(wrongAll.error.message, 'Server responded with 500: Oh')
  assert.equal(wrongBodyAndType.error.message, 'Missing response body')
})

test('the body of a response with a wrong type is cancelled', async () => {
  let isCancelled = false
  const body = new ReadableStream({
    cancel: () => {
      isCancelled = true
    },
  })
  await fail(scriptFetch(new Response(body, { headers: { 'content-type': 'text/event-stream' } })))
  assert.equal(isCancelled, true)
})

test('a status outside 2xx is a NetworkError with the unread response', async (t) => {
  const result = { errors: [{ message: 'no such field' }] }
  const server = await openClientServer(t, (res) => sendJson(res, result, { status: 400 }))
  const offered: unknown[] = []
  const client = createClient({
    url: server.url,
    shouldRetry: (error) => {
      offered.push(error)
      return false
    },
  })

  const reported = await client.execute(REQUEST).catch((error: unknown) => error)

  assert.ok(reported instanceof NetworkError)
  assert.equal(reported.message, 'Server responded with 400: Bad Request')
  assert.equal(reported.name, 'NetworkError')
  assert.equal(reported.response?.status, 400)
  assert.deepEqual(offered, [reported])
  assert.ok(reported.response instanceof Response)
  assert.equal(reported.response.bodyUsed, false)
  assert.deepEqual(await reported.response.json(), result)
})

test('a NetworkError has the GraphQL result of the server, and its messages as the cause', async () => {
  const result = { errors: [{ message: 'no such field' }, { message: 'no such type' }] }
  const response = respond(JSON.stringify(result), { status: 400 })
  const { error } = await fail(scriptFetch(response))
  assert.ok(error instanceof NetworkError)
  assert.deepEqual(error.result, result)
  assert.ok(error.cause instanceof Error)
  assert.equal(error.cause.message, 'no such field\nno such type')
})

for (const [kind, body, init] of [
  ['that is not JSON', '{"errors":', {}],
  ['that is JSON but not a result', '{"errors":"none"}', {}],
  ['of another type', '<h1>', { headers: { 'content-type': 'text/html' } }],
] as const) {
  test(`a NetworkError for a body ${kind} has no result`, async () => {
    const { error } = await fail(scriptFetch(respond(body, { status: 502, ...init })))
    assert.ok(error instanceof NetworkError)
    assert.equal(error.result, undefined)
    assert.equal(error.cause, undefined)
  })
}

test('a fetch without clone() leaves the body of a failed response alone', async () => {
  const { status, statusText, headers, body, ok } = respond('{"errors":[]}', { status: 400 })
  const json = () => Promise.reject(new Error('read'))
  const { error } = await fail({
    fetchFn: async () => ({ ok, status, statusText, headers, body, json }),
  })
  assert.ok(error instanceof NetworkError)
  assert.equal(error.result, undefined)
})

test('a fetch that rejects is a NetworkError with its message and itself as the cause', async () => {
  const cause = new TypeError('fetch failed')
  const { error, offered } = await fail(scriptFetch(cause))
  assert.ok(error instanceof NetworkError)
  assert.equal(error.message, 'fetch failed')
  assert.equal(error.cause, cause)
  assert.equal(error.response, undefined)
  assert.equal(offered, 1)
})

test('a fetch that throws synchronously, or throws something other than an Error, is a NetworkError too', async () => {
  const thrown = await fail({
    fetchFn: () => {
      throw new Error('not supported')
    },
  })
  const text = await fail({ fetchFn: () => Promise.reject('offline') })
  assert.ok(thrown.error instanceof NetworkError && text.error instanceof NetworkError)
  assert.deepEqual([thrown.error.message, text.error.message], ['not supported', 'offline'])
})

test('a fetch that throws the response instead of returning it is read too', async () => {
  const response = respond('{}', { status: 503, statusText: 'Service Unavailable' })
  const { error, offered } = await fail({ fetchFn: () => Promise.reject(response) })
  assert.ok(error instanceof NetworkError)
  assert.equal(error.message, 'Server responded with 503: Service Unavailable')
  assert.equal(error.response, response)
  assert.equal(offered, 1)
})

test('an unreachable server is a NetworkError', async (t) => {
  let url = ''
  await t.test('a server that closes', async (inner) => {
    url = (await openClientServer(inner, () => {})).url
    assert.ok(url)
  })
  await assert.rejects(createClient({ url }).execute(REQUEST), NetworkError)
})

test('acceptGraphQLErrors delivers a GraphQL response of any status', async (t) => {
  const result = { errors: [{ message: 'no such field' }] }
  const server = await openClientServer(t, (res) => sendJson(res, result, { status: 422 }))
  const sink = recordSink()

  createClient({ url: server.url, acceptGraphQLErrors: true }).subscribe(REQUEST, sink)
  await sink.ended

  assert.deepEqual(sink.events, [['next', result], ['complete']])
})

test('acceptGraphQLErrors leaves other bodies of a failed request alone', async (t) => {
  const server = await openClientServer(t, (res) =>
    sendJson(res, {}, { status: 502, type: 'application/json' }),
  )
  const client = createClient({ url: server.url, acceptGraphQLErrors: true })
  await assert.rejects(client.execute(REQUEST), {
    name: 'NetworkError',
    message: 'Server responded with 502: Bad Gateway',
  })
})

test('NetworkError takes a message, an error or a response', () => {
  const cause = new Error('reset')
  const response = { ok: false, status: 503, statusText: '' }

  assert.equal(new NetworkError('gone').message, 'gone')
  assert.equal('cause' in new NetworkError('gone'), false)
  assert.equal(new NetworkError(cause).message, 'reset')
  assert.equal(new NetworkError(cause).cause, cause)
  assert.equal(new NetworkError(response).message, 'Server responded with 503: ')
  assert.equal(new NetworkError(response).response, response)
  assert.equal(String(new NetworkError('gone')), 'NetworkError: gone')
  // @ts-expect-error: JavaScript can throw anything
  assert.equal(new NetworkError(null).message, 'null')
})
