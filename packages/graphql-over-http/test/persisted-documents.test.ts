/**
 * @legs main, oldest
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHandler } from '../src/handler.ts'
import type { HandlerOptions } from '../src/options.ts'
import { GR, get, J, post, toAnswer } from './support/request.ts'
import { schema } from './support/schema.ts'

const STORE: { readonly [id: string]: string } = {
  hello: '{ hello }',
  greet: 'query A($name: String) { greet(name: $name) } query B { hello }',
  bump: 'mutation { bump }',
  broken: '{ nope }',
}

const options: HandlerOptions = {
  schema,
  persistedDocument: async (_req, { documentId, extensions }) => {
    const { sha256Hash } = Object(extensions?.['persistedQuery'])
    return STORE[documentId ?? sha256Hash]
  },
}
const handler = createHandler(options)
const hello = { data: { hello: 'world' } }

test('a stored document runs by its id, over POST and GET', async () => {
  const named = { documentId: 'greet', operationName: 'A', variables: { name: 'Ada' } }
  for (const req of [post(named), get(named)]) {
    assert.deepEqual(toAnswer(await handler(req)).json, { data: { greet: 'Hello Ada' } })
  }
})

test('a stored document runs by its hash, as Apollo clients send it', async () => {
  const extensions = { persistedQuery: { version: 1, sha256Hash: 'hello' } }
  for (const req of [post({ extensions }), get({ extensions })]) {
    assert.deepEqual(toAnswer(await handler(req)).json, hello)
  }
})

test('a document that is not stored is an error that Apollo clients understand', async () => {
  for (const [accept, expected] of [
    [J, 200],
    [GR, 400],
  ] as const) {
    const { status, json } = toAnswer(await handler(post({ documentId: 'x' }, { accept })))
    assert.equal(status, expected)
    const [error] = json.errors ?? []
    assert.equal(error?.message, 'PersistedQueryNotFound')
    assert.deepEqual(error?.extensions, { code: 'PERSISTED_QUERY_NOT_FOUND' })
  }
})

test('a stored document is checked like any other', async () => {
  assert.equal((await handler(get({ documentId: 'bump' })))[1].status, 405)
  assert.equal((await handler(post({ documentId: 'broken' }, { accept: GR })))[1].status, 400)
})

test('requests with a query, and malformed requests, are handled as without the option', async (t) => {
  const persistedDocument = t.mock.fn(() => '{ hello }')
  const spied = createHandler({ schema, persistedDocument })
  assert.deepEqual(toAnswer(await spied(post({ query: '{ hello }', documentId: 'x' }))).json, hello)
  for (const [params, message] of [
    [{}, 'Missing query'],
    [{ variables: {} }, 'Missing query'],
    [{ query: 1, documentId: 'x' }, 'Invalid query'],
    [{ documentId: 1 }, 'Invalid documentId'],
    [{ documentId: 'x', variables: 1 }, 'Invalid variables'],
    [{ extensions: 1 }, 'Invalid extensions'],
  ] as const) {
    const { status, json } = toAnswer(await spied(post(params)))
    assert.equal(status, 400)
    assert.equal(json.errors?.[0]?.message, message)
  }
  assert.equal(persistedDocument.mock.callCount(), 0)
  const without = toAnswer(await createHandler({ schema })(post({ documentId: 'x' })))
  assert.deepEqual(without.json, { errors: [{ message: 'Missing query' }] })
})

test('the content type is still checked, so that other sites cannot run a stored mutation', async () => {
  const req = post({ documentId: 'bump' }, { 'content-type': 'text/plain' })
  assert.equal((await handler(req))[1].status, 415)
})

test('a failure of the store is a server error, and a pair ends the request', async () => {
  const broken = createHandler({ schema, persistedDocument: () => Promise.reject(new Error('db')) })
  await assert.rejects(broken(post({ documentId: 'x' })), /db/)
  const gone = [null, { status: 410, statusText: 'Gone' }] as const
  const ending = createHandler({ schema, persistedDocument: () => gone })
  assert.deepEqual(await ending(post({ documentId: 'x' })), gone)
})
