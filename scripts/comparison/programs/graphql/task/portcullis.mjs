import { createServer } from 'node:http'
import { maskErrors } from '@portcullis/graphql-over-http/mask-errors'
import { createHandler } from '@portcullis/graphql-over-http/use/http'
import { schema } from '../schema.mjs'

const handler = createHandler({ schema, formatError: maskErrors() })

createServer((request, response) => {
  if (request.url?.split('?')[0] === '/graphql') handler(request, response)
  else response.writeHead(404).end()
}).listen(process.env.PORT)
