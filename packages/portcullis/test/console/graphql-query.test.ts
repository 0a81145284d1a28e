import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { after, before, beforeEach, test } from 'node:test'
import { openConsole, type RunningConsole } from '../../src/console/console.ts'
import type { GraphqlAnswer } from '../../src/console/routes/graphql-query.ts'

type Handle = (request: IncomingMessage, response: ServerResponse, body: string) => void

/** A server whose behaviour each test sets. */
function createStub() {
  const stub: { handle: Handle; url: string; requests: string[] } = {
    handle: (_request, response) => response.end(),
    url: '',
    requests: [],
  }
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    stub.requests.push(`${request.method} ${request.url}`)
    stub.handle(request, response, body)
  })
  return { stub, server }
}

const { stub: api, server: apiServer } = createStub()
const { stub: auth, server: authServer } = createStub()
const userId = 'e1f7e4a0-7c1d-4b51-9a51-2f3c6d1f0a11'
let running: RunningConsole
let bare: RunningConsole
let cookie = ''

before(async () => {
  for (const [stub, server] of [
    [api, apiServer],
    [auth, authServer],
  ] as const) {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    assert.ok(typeof address === 'object' && address !== null)
    stub.url = `http://127.0.0.1:${address.port}`
  }
  const settings = { host: '127.0.0.1', port: 0, token: 'let-me-in', version: '0' }
  const graphql = { url: `${api.url}/graphql`, auditHeaders: { 'x-free': 'yes' } }
  running = await openConsole({
    ...settings,
    graphql,
    auth: { url: auth.url, key: async () => 'service-key' },
  })
  bare = await openConsole({ ...settings, graphql })
  const entry = await fetch(running.entryUrl, { redirect: 'manual' })
  cookie = entry.headers.get('set-cookie')?.split(';')[0] ?? ''
})
after(async () => {
  await running[Symbol.asyncDispose]()
  await bare[Symbol.asyncDispose]()
  for (const server of [apiServer, authServer]) {
    server.closeAllConnections()
    server.close()
  }
})
beforeEach(() => {
  api.requests.length = 0
  auth.requests.length = 0
})

async function call(path: string, body?: unknown, { at = running, headers = {} } = {}) {
  const answer = await fetch(`${at.url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      cookie,
      'x-portcullis-console': '1',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { status: answer.status, body: JSON.parse(await answer.text()) }
}

test('a query is sent to the configured API with its headers, and any status is returned', async () => {
  let seen: unknown
  api.handle = ({ headers }, response, body) => {
    seen = [headers['x-team'], headers['cookie'], headers['authorization'], JSON.parse(body)]
    response
      .writeHead(429, { 'RateLimit-Remaining': '0', 'set-cookie': 'a=b' })
      .end('{"errors":[]}')
  }
  const { status, body } = await call('/api/graphql/query', {
    query: 'query A { a }',
    variables: { id: 7 },
    operationName: 'A',
    headers: 'X-Team: red',
  })
  assert.equal(status, 200)
  const answer: GraphqlAnswer = body
  assert.deepEqual(seen, [
    'red',
    undefined,
    undefined,
    { query: 'query A { a }', variables: { id: 7 }, operationName: 'A' },
  ])
  assert.deepEqual([answer.status, answer.text], [429, '{"errors":[]}'])
  assert.ok(answer.durationMs > 0)
  const headers = new Map(answer.headers)
  assert.equal(headers.get('ratelimit-remaining'), '0')
  assert.equal(headers.has('set-cookie'), false)
  assert.deepEqual(api.requests, ['POST /graphql'])
  assert.deepEqual(auth.requests, [])
})

test('as a user, the token comes from the auth server and never reaches the browser', async () => {
  auth.handle = ({ headers }, response) => {
    assert.equal(headers.authorization, 'Bearer service-key')
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ access_token: 'token-of-ada', token_type: 'bearer' }))
  }
  api.handle = ({ headers }, response) =>
    response.end(JSON.stringify(headers.authorization?.length))
  const { body } = await call('/api/graphql/query', { query: '{ me }', userId })
  assert.deepEqual(auth.requests, [`POST /admin/users/${userId}/token`])
  assert.equal(body.text, `${'Bearer token-of-ada'.length}`)
  assert.doesNotMatch(JSON.stringify(body), /token-of-ada/)
})

test('a token that cannot be issued is explained, and the query is not sent', async () => {
  const answer = (status: number, body: unknown) => {
    auth.handle = (_request, response) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    }
    return call('/api/graphql/query', { query: '{ me }', userId })
  }
  const banned = await answer(403, { error_code: 'user_banned', msg: 'User is banned' })
  assert.equal(banned.status, 502)
  assert.match(
    banned.body.error.message,
    /did not issue an access token for this user: User is banned\./,
  )
  const unknown = await answer(404, { error_code: 'not_found', msg: 'Not found' })
  assert.match(unknown.body.error.message, /does not issue access tokens to administrators/)
  const without = await call('/api/graphql/query', { query: '{ me }', userId }, { at: bare })
  assert.deepEqual([without.status, without.body.error.code], [409, 'no_auth'])
  const headers = 'Authorization: Bearer mine'
  const both = await call('/api/graphql/query', { query: '{ me }', userId, headers })
  assert.deepEqual([both.status, both.body.error.code], [400, 'two_tokens'])
  assert.deepEqual(api.requests, [])
})

test('invalid input and calls without the console session are refused', async () => {
  const refusal = async (body: unknown) =>
    (await call('/api/graphql/query', body)).body.error.message
  assert.match(
    await refusal({ query: '{ a }', headers: 'Host: other' }),
    /^Remove the header Host: /,
  )
  assert.match(await refusal({ query: '{ a }', headers: 'no colon' }), /Name: value/)
  assert.match(await refusal({ query: '' }), /query/)
  assert.match(await refusal({ query: '{ a }', userId: '../x' }), /userId/)
  const anonymous = await call(
    '/api/graphql/query',
    { query: '{ a }' },
    { headers: { cookie: '' } },
  )
  assert.equal(anonymous.status, 401)
  assert.deepEqual(api.requests, [])
})

test('the schema is read without counting, and a refusal names the reason', async () => {
  api.handle = ({ headers }, response) => {
    assert.equal(headers['x-free'], 'yes')
    response.end(JSON.stringify({ data: { __schema: { types: [] } } }))
  }
  const { body } = await call('/api/graphql/schema')
  assert.deepEqual(body, { __schema: { types: [] } })
  api.handle = (_request, response) =>
    response.end(JSON.stringify({ errors: [{ message: 'introspection is disabled' }] }))
  const refused = await call('/api/graphql/schema')
  assert.equal(refused.status, 502)
  assert.match(refused.body.error.message, /\(introspection is disabled\)\. Queries work/)
  api.handle = (_request, response) => response.end('<html>')
  assert.match((await call('/api/graphql/schema')).body.error.message, /not JSON/)
})
