import { createServer } from 'node:http'
import { createHandler } from '@portcullis/graphql-over-http/use/http'
import { parse } from 'graphql'
import { schema } from './schema.ts'

const port = Number(process.env.PORT ?? 4000)

// Clients send the name of a document instead of its text. Only these documents run. They are parsed
// here and were validated in development, so the arguments need no further check.
const documents = new Map([
  ['greet', parse('query ($name: String) { hello(name: $name) }')],
  ['shout', parse('mutation ($text: String!) { shout(text: $text) }')],
])

const handler = createHandler({
  onSubscribe(_req, { query, operationName, variables }) {
    const document = documents.get(query)
    if (!document) return [null, { status: 404, statusText: 'Unknown document' }]
    return { schema, document, operationName, variableValues: variables }
  },
})

const server = createServer((req, res) => {
  if (req.url?.split('?')[0] === '/graphql') handler(req, res)
  else res.writeHead(404).end()
})

server.listen(port, () => console.log(`Listening on http://localhost:${port}/graphql`))
