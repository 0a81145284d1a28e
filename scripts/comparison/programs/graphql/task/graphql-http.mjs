import { createServer } from 'node:http'
import { GraphQLError } from 'graphql'
import { createHandler } from 'graphql-http/lib/use/http'
import { schema } from '../schema.mjs'

const handler = createHandler({
  schema,
  formatError(error) {
    const { originalError, path, nodes } = error
    if (!path || !originalError || originalError instanceof GraphQLError) return error
    console.error(originalError)
    return new GraphQLError('Internal server error', { nodes, path })
  },
})

createServer((request, response) => {
  if (request.url?.split('?')[0] === '/graphql') handler(request, response)
  else response.writeHead(404).end()
}).listen(process.env.PORT)
