import { createServer } from 'node:http'
import { execute, parse } from 'graphql'
import { queries } from '../queries.ts'
import { schema } from '../schema.ts'
import { listenOn } from './listen.ts'

const documents = new Map(Object.values(queries).map(({ document }) => [document, parse(document)]))

/**
 * Everything that cannot be left out, and nothing else: reads the body, parses the JSON, executes a
 * document that was parsed beforehand and never validated, writes the JSON. The limit for whoever
 * executes with graphql-js on Node's HTTP server.
 */
const server = createServer((req, res) => {
  const chunks: Buffer[] = []
  req.on('data', (chunk: Buffer) => chunks.push(chunk))
  req.on('end', async () => {
    const { query, variables } = JSON.parse(Buffer.concat(chunks).toString())
    const document = documents.get(query)
    if (!document) throw new Error('The limit knows only the documents of the benchmark')
    const body = JSON.stringify(await execute({ schema, document, variableValues: variables }))
    res.writeHead(200, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
    })
    res.end(body)
  })
})

export const listen = () => listenOn(server)
