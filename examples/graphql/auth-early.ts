import { createServer } from 'node:http'
import { createHandler } from '@portcullis/graphql-over-http/use/http'
import { schema } from './schema.ts'
import { findUserId } from './users.ts'

const port = Number(process.env.PORT ?? 4000)
const users = new WeakMap<object, string>()
const handler = createHandler({
  schema,
  context: (req) => ({ userId: users.get(req.raw) }),
})

// The recommended way: unauthenticated requests do not reach GraphQL at all.
const server = createServer(async (req, res) => {
  try {
    if (req.url?.split('?')[0] !== '/graphql') {
      res.writeHead(404).end()
      return
    }
    const userId = await findUserId(req.headers.authorization)
    if (userId === undefined) {
      res.writeHead(401, { 'www-authenticate': 'Bearer' }).end()
      return
    }
    users.set(req, userId)
    await handler(req, res)
  } catch (error) {
    console.error(error)
    res.writeHead(500).end()
  }
})

server.listen(port, () => console.log(`Listening on http://localhost:${port}/graphql`))
