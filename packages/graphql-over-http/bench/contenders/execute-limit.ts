import { createServer } from 'node:http'
import { execute, parse } from 'graphql'
import { queries } from '../queries.ts'
import { schema } from '../schema.ts'
import { listenOn } from './listen.ts'

const documents = new Map(Object.values(queries).map(({ document }) => [document, parse(document)]))

/**
 * Does only the unavoidable work: reads the body, parses the JSON, executes a document that was
 * parsed beforehand and never validated, and writes the JSON. No server that executes with
 * graphql-js on Node's HTTP server can be faster.
 */
const server = createServer((req, res) => {
  const chunks: Buffer[] = []
  req.on('data', (chunk: Buffer) => chunks.push(chunk))
  req.on('end', async () => {
    const { query, variables } = JSON.parse(Buffer.concat(chunks).toString())
    const document = documents.get(query)
    if (!document) throw new Error('This contender supports only the documents of the benchmark')
    const body = JSON.stringify(await execute({ schema, document, variableValues: variables }))
    res.writeHead(200, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
    })
    res.end(body)
  })
})

export const listen = () => listenOn(server)
