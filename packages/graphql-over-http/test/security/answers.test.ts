/**
 * @legs main, oldest
 */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { type TestContext, test } from 'node:test'
import { createHandler as createLambdaHandler } from '../../src/adapters/aws-lambda.ts'
import { createHandler as createFetchHandler } from '../../src/adapters/fetch.ts'
import { createHandler as createHttpHandler } from '../../src/adapters/http.ts'
import { createHandler as createNetlifyHandler } from '../../src/adapters/netlify.ts'
import { createHandler as createUwsHandler } from '../../src/adapters/uws.ts'
import { createHandler } from '../../src/handler.ts'
import type { Response as Pair } from '../../src/request.ts'
import { createUwsExchange } from '../specification/uws-exchange.ts'
import { closeServer, listen } from '../support/hosts/listen.ts'
import { GR, get, J, type PlainRequest, post } from '../support/request.ts'
import { schema } from '../support/schema.ts'

const init = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: '{"query":"{ hello }"}',
}
const event = { headers: init.headers, body: init.body, isBase64Encoded: false }
const functionContext = {
  functionName: 'graphql',
  awsRequestId: 'a-request',
  getRemainingTimeInMillis: () => 1000,
}

interface Sent {
  readonly status: number
  /** Header names, header values and the status text. */
  readonly head: string
  readonly body: string
}

/**
 * For each way in which an adapter sends headers, a function that returns what a pair from an
 * option becomes.
 */
const SENDERS: {
  readonly [adapter: string]: (t: TestContext, context: () => Pair) => Promise<Sent>
} = {
  async http(t, context) {
    const server = createServer(createHttpHandler({ schema, context }))
    t.after(() => closeServer(server))
    const response = await fetch(`http://127.0.0.1:${await listen(server)}/`, init)
    return toSent(response)
  },
  async fetch(_t, context) {
    const handler = createFetchHandler({ schema, context })
    return toSent(await handler(new Request('http://localhost/', init)))
  },
  async uws(_t, context) {
    const { req, res, written } = createUwsExchange('post', init.headers, init.body)
    await createUwsHandler({ schema, context })(res, req)
    return {
      status: Number(written.status?.split(' ')[0]),
      head: JSON.stringify([written.status, written.headers]),
      body: written.body ?? '',
    }
  },
  async netlify(_t, context) {
    const given = { ...event, httpMethod: 'POST', rawUrl: 'https://site.example/' }
    const result = await createNetlifyHandler({ schema, context })(given, functionContext)
    return {
      status: result.statusCode,
      head: JSON.stringify(result.headers),
      body: result.body ?? '',
    }
  },
  async 'aws-lambda'(_t, context) {
    const given = {
      ...event,
      httpMethod: 'POST',
      path: '/',
      // Load balancers also receive the status text.
      requestContext: { elb: {} },
    }
    const result = await createLambdaHandler({ schema, context })(given, functionContext)
    return {
      status: result.statusCode,
      head: JSON.stringify([result.statusDescription, result.headers]),
      body: result.body,
    }
  },
}

async function toSent(response: Response): Promise<Sent> {
  const { status, statusText, headers } = response
  return {
    status,
    head: JSON.stringify([statusText, [...headers]]),
    body: await response.text(),
  }
}

const BROKEN: readonly (readonly [what: string, pair: Pair])[] = [
  [
    'a status text with a line break',
    [null, { status: 403, statusText: 'No\r\nset-cookie: stolen=1' }],
  ],
  ['a status text with a null byte', [null, { status: 403, statusText: 'No\0stolen' }]],
  [
    'a header name with a line break',
    [null, { status: 200, statusText: 'OK', headers: { 'x-a\r\nset-cookie': 'stolen=1' } }],
  ],
  [
    'a header name with a colon',
    [null, { status: 200, statusText: 'OK', headers: { 'set-cookie: stolen=1; x': '1' } }],
  ],
  [
    'a header value with a line break',
    [null, { status: 200, statusText: 'OK', headers: { 'x-a': '1\nset-cookie: stolen=1' } }],
  ],
]

for (const [adapter, send] of Object.entries(SENDERS)) {
  for (const [what, pair] of BROKEN) {
    test(`${adapter}: ${what} becomes 500, and no part of it is sent`, async (t) => {
      const log = t.mock.method(console, 'error', () => {})
      const { status, head, body } = await send(t, () => pair)
      assert.equal(status, 500)
      assert.equal(body, '')
      assert.doesNotMatch(head, /stolen/)
      assert.equal(log.mock.callCount(), 1)
    })
  }
}

test('text from a request is repeated only in bodies labelled as JSON', async () => {
  const evil = '<script>alert(1)</script>'
  const literal = JSON.stringify(evil)
  const requests: readonly PlainRequest[] = [
    post({ query: evil }),
    post({ query: `{ hello @skip(if: ${literal}) }` }),
    post({ query: `{ greet(name: ${literal}) }` }),
    post({ query: 'query ($n: Int!) { double(number: $n) }', variables: { n: evil } }),
    get({ query: `{ greet(name: ${literal}) }` }),
    get({ query: evil }),
    get({ query: `mutation { bump @skip(if: false) } # ${evil}` }),
    post({ query: '{ hello }', operationName: evil }),
    post(evil),
    post({ [evil]: evil }),
  ]
  let repeated = 0
  for (const profile of ['classic', '2026'] as const) {
    const handler = createHandler({ schema, profile })
    for (const req of requests) {
      for (const accept of [J, GR]) {
        const headers = { ...req.headers, accept }
        const [body, { headers: sent, statusText }] = await handler({ ...req, headers })
        assert.doesNotMatch(JSON.stringify([sent, statusText]), /script/)
        if (!body?.includes('script')) continue
        repeated += 1
        assert.match(
          sent?.['content-type'] ?? '',
          /^application\/(graphql-response\+)?json; charset=utf-8$/,
        )
      }
    }
  }
  assert.ok(repeated > 10, `${repeated} bodies`)
})
