// The table of typical mistakes in docs/graphql.md: each mistake must give the message of its row.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer, IncomingMessage, type RequestListener } from 'node:http'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { buildSchema } from 'graphql'
import { buildSchema as buildSchemaOfOtherCopy } from 'graphql-16'
import { createHandler as createExpressHandler } from '../src/adapters/express.ts'
import { createHandler as createFetchHandler } from '../src/adapters/fetch.ts'
import { createHandler as createHttpHandler } from '../src/adapters/http.ts'
import { createClient } from '../src/client.ts'
import { createHandler as createCoreHandler } from '../src/handler.ts'
import { readNames, readTables } from './support/doc-blocks.ts'
import { closeServer, listen } from './support/hosts/listen.ts'
import { root } from './support/program.ts'

const text =
  'type Query { hello: String } type Mutation { bump: Int } type Subscription { tick: Int }'
const schema = buildSchema(text)
const url = 'http://localhost/graphql'

// The types reject most of these, but JavaScript code can do them.
const create = (options: object) => async () => {
  createFetchHandler(options as never)
}
const send = (path: string, init?: RequestInit) => async () =>
  (await createFetchHandler({ schema })(new Request(`${url}${path}`, init))).text()
const post = (body: unknown, headers = { 'content-type': 'application/json' }): RequestInit => ({
  method: 'POST',
  headers,
  body: JSON.stringify(body),
})
const sendTo = (listener: RequestListener) => async () => {
  const server = createServer(listener)
  try {
    const port = await listen(server)
    return await (await fetch(`http://127.0.0.1:${port}/`, post({ query: '{ hello }' }))).text()
  } finally {
    await closeServer(server)
  }
}

const handleFetch = createFetchHandler({ schema }) as unknown as RequestListener
const handleHttp = createHttpHandler({ schema })

/**
 * The mistakes as they are worded in the table. A returned text is the body of the response; if it
 * is empty, the message is in the log.
 */
const MISTAKES: { readonly [mistake: string]: () => Promise<unknown> } = {
  '`createHandler({})`, or a `schema` that is undefined': create({}),
  'a misspelt option': create({ shcema: schema }),
  'options of Apollo Server': create({ typeDefs: text, resolvers: {} }),
  'the text of a schema': create({ schema: text }),
  'a schema that is still loading': create({ schema: Promise.resolve(schema) }),
  'two copies of `graphql` are installed': create({ schema: buildSchemaOfOtherCopy(text) }),
  '`@defer` or `@stream` in the schema, with graphql 17': create({
    schema: buildSchema(`directive @defer on FIELD ${text}`),
  }),
  "`app.all('/graphql', createHandler)`": async () =>
    createExpressHandler(new IncomingMessage(new Socket()) as never),
  'the handler of another [host](#hosts)': sendTo(handleFetch),
  'the handler of the package itself on a server': () =>
    createCoreHandler({ schema })(new Request(url) as never),
  'other code has read the body': sendTo(async (req, res) => {
    await req.toArray()
    await handleHttp(req, res)
  }),
  'POST without `Content-Type`, or as a form': send('', post({}, { 'content-type': '' })),
  'an `Accept` without JSON': send('?query={hello}', { headers: { accept: 'text/html' } }),
  'a mutation over GET': send('?query=mutation{bump}'),
  'a subscription': send('', post({ query: 'subscription { tick }' })),
  'several requests in one body': send('', post([{ query: '{ hello }' }])),
  'a large body': send('', post({ query: '{ hello }', extensions: { a: 'a'.repeat(2 ** 20) } })),
  'a large document': send('', post({ query: `{${' hello'.repeat(15_000)} }` })),
  'a misspelt option of the client': async () => createClient({ url, header: {} } as never),
}

const table = readTables(readFileSync(join(root, 'docs/graphql.md'), 'utf8')).find(
  ({ heading }) => heading === 'Typical mistakes',
)

test('the table of typical mistakes lists the mistakes of this test', () => {
  assert.deepEqual(
    table?.rows.map(([mistake]) => mistake),
    Object.keys(MISTAKES),
  )
})

for (const [mistake = '', cell = ''] of table?.rows ?? []) {
  test(`the message is that of the table: ${mistake}`, async (t) => {
    const log = t.mock.method(console, 'error', () => {})
    const readMessage = async (): Promise<string> => {
      try {
        const body = await MISTAKES[mistake]?.()
        if (body) return JSON.parse(String(body)).errors[0].message
        return Object(log.mock.calls[0]?.arguments[1]).message
      } catch (error) {
        return Object(error).message
      }
    }
    const message = await readMessage()
    const [wanted = ''] = readNames(cell)
    const parts = wanted.split('…').map((part) => part.trim().replace(/\W/g, '\\$&'))
    assert.match(message, new RegExp(`^${parts.join('.*')}$`, 's'))
  })
}
