import { createServer } from 'node:http'
import { createHandler } from '@portcullis/graphql-over-http/use/http'
import { schema } from './schema.ts'
import { findUserId } from './users.ts'

const port = Number(process.env.PORT ?? 4000)

// Shorter than the early check, but less safe: documents of unauthenticated clients are parsed.
const handler = createHandler({
  schema,
  context: async (req) => {
    const userId = await findUserId(req.raw.headers.authorization)
    if (userId === undefined) return [null, { status: 401, statusText: 'Unauthorized' }]
    return { userId }
  },
})

const server = createServer((req, res) => {
  if (req.url?.split('?')[0] === '/graphql') handler(req, res)
  else res.writeHead(404).end()
})

server.listen(port, () => console.log(`Listening on http://localhost:${port}/graphql`))
