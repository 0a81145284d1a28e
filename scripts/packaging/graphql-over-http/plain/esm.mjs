// Uses the installed package from ES modules. Arguments: everything that can be imported.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import {
  auditServer,
  createClient,
  createHandler,
  NetworkError,
  renderAuditResultsToHTML,
  serverAudits,
} from '@portcullis/graphql-over-http'
import * as audits from '@portcullis/graphql-over-http/audits'
import * as client from '@portcullis/graphql-over-http/client'
import { createHandler as createLibHandler } from '@portcullis/graphql-over-http/lib/use/http'
import { createHandler as createHttpHandler } from '@portcullis/graphql-over-http/use/http'
import { buildSchema } from 'graphql'

process.once('uncaughtException', (error) => {
  console.error(error.stack)
  process.exit(1)
})

const schema = buildSchema('type Query { hello: String }')
const options = { schema, rootValue: { hello: 'world' } }

for (const specifier of process.argv.slice(2)) {
  const module = await import(specifier)
  if (!specifier.includes('/use/')) continue
  assert.equal(typeof module.createHandler, 'function', specifier)
  assert.equal(typeof module.createHandler(options), 'function', specifier)
}
for (const inner of ['use/shared/vary', 'lib/use/shared/vary', 'handler', 'handler.js', 'src']) {
  await assert.rejects(import(`@portcullis/graphql-over-http/${inner}`), {
    code: 'ERR_PACKAGE_PATH_NOT_EXPORTED',
  })
}

// Every path must lead to the same copy, since `instanceof` and caches depend on it.
assert.equal(createHttpHandler, createLibHandler)
assert.equal(createClient, client.createClient)
assert.equal(NetworkError, client.NetworkError)
assert.equal(serverAudits, audits.serverAudits)

const [body, init] = await createHandler(options)({
  method: 'POST',
  url: '/graphql',
  headers: { 'content-type': 'application/json', accept: 'application/json' },
  body: { query: '{ hello }' },
  raw: null,
  context: null,
})
assert.equal(init.status, 200)
assert.deepEqual(JSON.parse(body), { data: { hello: 'world' } })

const server = createServer(createHttpHandler(options)).listen(0, '127.0.0.1')
await once(server, 'listening')
const url = `http://127.0.0.1:${server.address().port}/graphql`

const { execute, subscribe, dispose } = createClient({ url })
assert.deepEqual(await execute({ query: '{ hello }' }), { data: { hello: 'world' } })
const events = []
await new Promise((complete, error) => {
  subscribe({ query: '{ hello }' }, { next: (result) => events.push(result), error, complete })
})
assert.deepEqual(events, [{ data: { hello: 'world' } }])
await assert.rejects(
  execute({ query: '{ hello' }),
  (error) => error instanceof NetworkError && error.response.status === 400,
)
dispose()

const results = await auditServer({ url })
assert.deepEqual(
  results.filter(({ status }) => status !== 'ok').map(({ id, reason }) => `${id}: ${reason}`),
  [],
)
assert.equal(results.length, 61)
assert.match(await renderAuditResultsToHTML(results), /61/)

server.close()
server.closeAllConnections()
console.log(`${results.length} of ${results.length} audits ok`)
