// One schema, executed by Apollo Server and by the Portcullis packages: a second copy of graphql
// would refuse it. Argument: the major version of graphql.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { ApolloServer } from '@apollo/server'
import { createHandler } from '@portcullis/graphql-over-http/use/fetch'
import { openApi } from '@portcullis/portcullis/api'
import { buildSchema, version } from 'graphql'

assert.equal(version.split('.')[0], process.argv[2])

const schema = buildSchema('type Query { hello: String }')
const rootValue = { hello: 'world' }
const apollo = new ApolloServer({ schema, rootValue })
const { body } = await apollo.executeOperation({ query: '{ hello }' })
assert.deepEqual({ ...body.singleResult.data }, rootValue)
await apollo.stop()

const handler = createHandler({ schema, rootValue })
const response = await handler(new Request('http://localhost/graphql?query={hello}'))
assert.deepEqual(await response.json(), { data: rootValue })

// The schema of the API comes from the package itself.
const server = createServer(openApi({})).listen(0, '127.0.0.1')
await once(server, 'listening')
const url = `http://127.0.0.1:${server.address().port}/graphql?query={__typename}`
assert.deepEqual(await (await fetch(url)).json(), { data: { __typename: 'Query' } })
server.close()
server.closeAllConnections()
