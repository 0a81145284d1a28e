import { serve } from '@hono/node-server'
import { createHandler } from '@portcullis/graphql-over-http/use/fetch'
import { schema } from './schema.ts'

const port = Number(process.env.PORT ?? 4000)
const handler = createHandler({ schema })

// Node has `Request` and `Response` but no server for them; @hono/node-server is one.
const fetch = (req: Request) =>
  new URL(req.url).pathname === '/graphql' ? handler(req) : new Response(null, { status: 404 })

serve({ fetch, port }, () => console.log(`Listening on http://localhost:${port}/graphql`))
