/**
 * @legs main, oldest
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHandler } from '../../src/handler.ts'
import type { Response } from '../../src/request.ts'
import { GR, get, J, type PlainRequest, post, request, toAnswer } from '../support/request.ts'
import { createTestSchema, schema } from '../support/schema.ts'

const HELLO = { query: '{ hello }' }
const WORLD = { data: { hello: 'world' } }
const BUMP = { query: 'mutation { bump }' }

const handlers = (['classic', '2026'] as const).map((profile) => createHandler({ schema, profile }))
const sendToBoth = (req: PlainRequest): Promise<readonly Response[]> =>
  Promise.all(handlers.map((handler) => handler(req)))

/** A handler that counts the mutations it runs. */
function createCounter() {
  let mutations = 0
  const handler = createHandler({
    schema: createTestSchema(() => {
      mutations += 1
    }),
  })
  return { handler, count: () => mutations }
}

/** Content types that a form or a script of another site can send without a preflight. */
const SIMPLE_TYPES = [
  'text/plain',
  'text/plain;charset=UTF-8',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  // Browsers compare only the essence of the type, so the parameters can be anything.
  'text/plain; application/json',
  'text/plain; charset=application/json',
  undefined,
]

test('a content type that other sites can send without a preflight runs nothing', async () => {
  const { handler, count } = createCounter()
  for (const type of SIMPLE_TYPES) {
    const headers = type === undefined ? {} : { 'content-type': type }
    const body = () => assert.fail('the body was read')
    const [answer, { status }] = await handler(request({ headers, body }))
    assert.deepEqual([status, answer], [415, null], String(type))
    const url = get(BUMP).url
    assert.equal((await handler(request({ headers, url, body })))[1].status, 415)
  }
  assert.equal(count(), 0)
  await handler(post(BUMP))
  assert.equal(count(), 1)
})

test('no header or parameter turns a GET into another method', async () => {
  const { handler, count } = createCounter()
  const headers = {
    'x-http-method-override': 'POST',
    'x-http-method': 'POST',
    'x-method-override': 'POST',
    'content-type': J,
  }
  const req = get({ ...BUMP, _method: 'POST', method: 'POST' }, headers)
  const [, { status }] = await handler({ ...req, body: () => JSON.stringify(BUMP) })
  assert.equal(status, 405)
  assert.equal(count(), 0)
})

test('the search of a POST is not read, so that a link cannot add to its body', async () => {
  const { handler, count } = createCounter()
  const { url } = get({ ...BUMP, operationName: 'Other', variables: { a: 1 } })
  assert.deepEqual(toAnswer(await handler({ ...post(HELLO), url })).json, WORLD)
  assert.equal(toAnswer(await handler({ ...post({}), url })).status, 400)
  assert.equal(count(), 0)
})

test('no response allows another origin to read it, including the response to a preflight', async () => {
  const origin = { origin: 'https://evil.example', 'access-control-request-method': 'POST' }
  const requests = [
    post(HELLO, origin),
    get(HELLO, origin),
    post({ query: '{' }, origin),
    post('{', origin),
    get(BUMP, origin),
    request({ method: 'OPTIONS', headers: origin }),
    request({ headers: { ...origin, 'content-type': 'text/plain' } }),
    post(HELLO, { ...origin, accept: 'text/html' }),
  ]
  for (const req of requests) {
    for (const [, { headers = {} }] of await sendToBoth(req)) {
      const names = Object.keys(headers).filter((name) => /^access-control-/i.test(name))
      assert.deepEqual(names, [])
    }
  }
})

test('nothing in the extensions of a request changes what is run', async () => {
  const extensions = {
    persistedQuery: { version: 1, sha256Hash: 'ecf4edb46db40b5132295c0291d62fb65d6759a9' },
    operationName: 'B',
    query: 'mutation { bump }',
    variables: { name: 'Eve' },
  }
  const { handler, count } = createCounter()
  assert.deepEqual(toAnswer(await handler(post({ ...HELLO, extensions }))).json, WORLD)
  assert.deepEqual(toAnswer(await handler(get({ ...HELLO, extensions }))).json, WORLD)
  const { status, json } = toAnswer(await handler(post({ extensions })))
  assert.equal(status, 400)
  assert.equal(json.errors?.[0]?.message, 'Missing query')
  assert.equal(count(), 0)
})

test('keys of the prototype in a URL do no harm', async () => {
  const evil = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'
  const seen: unknown[] = []
  const handler = createHandler({
    schema,
    onSubscribe: (_req, { variables, extensions }) => {
      seen.push(variables, extensions)
    },
  })
  const req = get({ ...HELLO, variables: evil, extensions: evil, toString: evil })
  const url = `${req.url}&__proto__=${encodeURIComponent(evil)}&__proto__[polluted]=1`
  assert.deepEqual(toAnswer(await handler({ ...req, url })).json, WORLD)
  assert.equal('polluted' in {}, false)
  assert.equal(seen.length, 2)
  for (const map of seen) {
    assert.ok(typeof map === 'object' && map !== null)
    assert.deepEqual(Object.keys(map), ['__proto__', 'constructor'])
    assert.equal('polluted' in map, false)
  }
})

test('header names of the prototype are neither found nor harmful', async () => {
  // Created from text, as a header parser would, because an object literal would set the prototype.
  const headers = JSON.parse('{"__proto__":"application/json","constructor":"x","toString":"x"}')
  for (const [, { status }] of await sendToBoth(request({ headers, body: '{}' }))) {
    assert.equal(status, 415)
  }
  const named = { ...headers, 'content-type': J }
  for (const response of await sendToBoth(request({ headers: named, body: HELLO }))) {
    assert.deepEqual(toAnswer(response).json, WORLD)
  }
  assert.equal('polluted' in {}, false)
})

test('a document with hundreds of errors gets a bounded list of errors', async () => {
  const names = Array.from({ length: 500 }, (_, number) => `unknown${number}`)
  const queries = [
    `{ ${names.join(' ')} }`,
    `{ hello ${names.map((name) => `@${name}`).join(' ')} }`,
    `query (${names.map((name) => `$${name}: Int`).join(' ')}) { hello }`,
  ]
  for (const query of queries) {
    for (const response of await sendToBoth(post({ query }, { accept: GR }))) {
      const { status, json } = toAnswer(response)
      assert.ok(status === 400 || status === 422)
      assert.ok(json.errors && json.errors.length <= 101, `${json.errors?.length} errors`)
    }
  }
})

test('a cached document does not skip authentication or other hooks that run per request', async () => {
  const calls = { onSubscribe: 0, context: 0, onOperation: 0 }
  const handler = createHandler({
    schema,
    onSubscribe: () => {
      calls.onSubscribe += 1
    },
    context: (req) => {
      calls.context += 1
      if (new Headers(req.headers as HeadersInit).get('authorization') === 'Bearer good') return
      return [null, { status: 401, statusText: 'Unauthorized' }]
    },
    onOperation: () => {
      calls.onOperation += 1
    },
  })
  const statuses: number[] = []
  for (const authorization of ['Bearer good', 'Bearer bad', 'Bearer good', '']) {
    statuses.push((await handler(post(HELLO, { authorization })))[1].status)
  }
  assert.deepEqual(statuses, [200, 401, 200, 401])
  assert.deepEqual(calls, { onSubscribe: 4, context: 4, onOperation: 2 })
})
