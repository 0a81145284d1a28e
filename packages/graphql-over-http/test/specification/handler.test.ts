/**
 * @legs main, oldest
 */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { test } from 'node:test'
import * as library from '@portcullis/graphql-over-http'
import { buildSchema, parse } from 'graphql'
import { createHandler } from '../../src/handler.ts'
import { closeServer, listen } from '../support/hosts/listen.ts'
import { GR, get, post, request, toAnswer } from '../support/request.ts'
import { schema } from '../support/schema.ts'

const HELLO = { query: '{ hello }' }

test('the package exports the handler, the client and the audit suite', async () => {
  const url = 'http://localhost:4000/graphql'
  const [body] = await library.createHandler({ schema })(post(HELLO))
  assert.equal(body, '{"data":{"hello":"world"}}')
  assert.equal(typeof library.createClient({ url }).subscribe, 'function')
  assert.equal(library.serverAudits({ url }).length, 61)
})

test('the handler does not route: it responds the same way for every path', async () => {
  const handler = createHandler({ schema })
  const { search } = new URL(get(HELLO).url, 'http://localhost')
  const expected = await handler(get(HELLO))
  assert.equal(expected[1].status, 200)
  for (const path of ['/', '/graphql/', '/any/other/path', 'https://example.com:8443/x', '']) {
    assert.deepEqual(await handler(request({ method: 'GET', url: path + search })), expected)
    assert.deepEqual(await handler({ ...post(HELLO), url: path }), expected)
  }
})

test('a host that wraps the core handler can answer 500 with the message of a failure', async (t) => {
  const handler = createHandler({
    schema,
    context: () => {
      throw new Error('the database is down')
    },
  })
  const server = createServer(async (req, res) => {
    try {
      const { url = '/', method = 'GET', headers } = req
      await handler({ url, method, headers, body: null, raw: req, context: { res } })
    } catch (error) {
      res.writeHead(500).end(error instanceof Error ? error.message : '')
    }
  })
  t.after(() => closeServer(server))
  const response = await fetch(`http://127.0.0.1:${await listen(server)}/?query={hello}`)
  assert.equal(response.status, 500)
  assert.equal(await response.text(), 'the database is down')
})

test('the handler does not authenticate: credentials change nothing', async () => {
  const handler = createHandler({ schema })
  const expected = await handler(post(HELLO))
  assert.equal(expected[1].status, 200)
  for (const headers of [
    { authorization: 'Bearer token' },
    { authorization: 'Basic !' },
    { cookie: 'session=1' },
  ]) {
    assert.deepEqual(await handler(post(HELLO, headers)), expected)
  }
})

test('the context function is given the native request and response of the host', async () => {
  const raw = { native: 'request' }
  const context = { res: 'native response' }
  const seen: unknown[] = []
  const handler = createHandler<typeof raw, typeof context>({
    schema,
    context: (req) => {
      seen.push(req.raw, req.context)
    },
  })
  await handler({ ...post(HELLO), raw, context })
  assert.equal(seen[0], raw)
  assert.equal(seen[1], context)
})

test('the context function may return a pair, which becomes the whole response', async () => {
  for (const [status, statusText] of [
    [401, 'Unauthorized'],
    [429, 'Too Many Requests'],
  ] as const) {
    const handler = createHandler({ schema, context: async () => [null, { status, statusText }] })
    assert.deepEqual(await handler(post(HELLO)), [null, { status, statusText }])
  }
})

test('the context function that authenticates runs after the document was parsed', async () => {
  const unauthorized = [null, { status: 401, statusText: 'Unauthorized' }] as const
  const handler = createHandler({ schema, context: () => unauthorized })
  assert.equal((await handler(post(HELLO)))[1].status, 401)
  const { status, json } = toAnswer(await handler(post({ query: '{' }, { accept: GR })))
  assert.equal(status, 400)
  assert.match(json.errors?.[0]?.message ?? '', /^Syntax Error/)
})

test('onSubscribe builds the schema, operation name, document and variables of a request', async () => {
  const args = {
    schema: buildSchema('type Query { other(text: String): String }'),
    operationName: 'B',
    document: parse('query A { __typename } query B($text: String) { other(text: $text) }'),
    variableValues: { text: 'from onSubscribe' },
    rootValue: { other: ({ text }: { text: string }) => text },
  }
  for (const onSubscribe of [() => args, async () => args]) {
    const handler = createHandler({ schema, onSubscribe })
    const params = { ...HELLO, operationName: 'A', variables: { text: 'from the request' } }
    const { json } = toAnswer(await handler(post(params)))
    assert.deepEqual(json, { data: { other: 'from onSubscribe' } })
  }
})

test('parseRequestParams replaces the default parser, at once or by a promise', async () => {
  const params = {
    query: 'query A { __typename } query B($name: String) { greet(name: $name) }',
    operationName: 'B',
    variables: { name: 'Ada' },
  }
  for (const parseRequestParams of [() => params, async () => params]) {
    const handler = createHandler({ schema, parseRequestParams })
    const { json } = toAnswer(await handler(post({ query: '{ hello }' })))
    assert.deepEqual(json, { data: { greet: 'Hello Ada' } })
  }
})

test('parseRequestParams that throws on a batch refuses it', async () => {
  const handler = createHandler({
    schema,
    async parseRequestParams(req) {
      const body = typeof req.body === 'function' ? await req.body() : req.body
      if (Array.isArray(JSON.parse(String(body)))) throw new Error('Batches are not supported')
    },
  })
  const { status, json } = toAnswer(await handler(post([HELLO, HELLO])))
  assert.equal(status, 400)
  assert.deepEqual(json, { errors: [{ message: 'Batches are not supported' }] })
})

test('no resolver runs when a request fails before execution', async () => {
  let calls = 0
  const rootValue = {
    double: () => {
      calls += 1
      return 2
    },
  }
  const doubling = buildSchema('type Query { double(number: Int!): Int }')
  const query = 'query ($number: Int!) { double(number: $number) }'
  for (const profile of ['classic', '2026'] as const) {
    const handler = createHandler({ schema: doubling, rootValue, profile })
    for (const params of [
      { query, variables: { number: 'text' } },
      { query, variables: {} },
      { query: '{ double(number: 1) unknown }' },
      { query: '{ double(number: 1)' },
      { query: 'query A { double(number: 1) } query B { double(number: 1) }' },
      { query: '{ double(number: 1) }', operationName: 'B' },
    ]) {
      const { json } = toAnswer(await handler(post(params, { accept: GR })))
      assert.equal('data' in json, false, params.query)
      assert.equal(json.errors?.length, 1)
    }
    assert.equal(calls, 0)
    await handler(post({ query, variables: { number: 1 } }))
    assert.equal(calls, 1)
    calls = 0
  }
})
