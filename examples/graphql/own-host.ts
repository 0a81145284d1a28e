import { createServer, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { createHandler } from '@portcullis/graphql-over-http'
import { schema } from './schema.ts'

const port = Number(process.env.PORT ?? 4000)

// The core handler knows no host: give it the parts of a request, and write what it answers. This is
// all an adapter does, apart from limits and clients that go away.
const handler = createHandler<IncomingMessage>({ schema })

const server = createServer(async (req, res) => {
  try {
    if (req.url?.split('?')[0] !== '/graphql') {
      res.writeHead(404).end()
      return
    }
    const [body, init] = await handler({
      url: req.url,
      method: req.method ?? 'GET',
      headers: req.headers,
      body: () => text(req),
      raw: req,
      context: { res },
    })
    res.writeHead(init.status, init.statusText, init.headers).end(body)
  } catch (error) {
    // Tells the client what went wrong: good while developing, too much in production.
    res.writeHead(500).end(error instanceof Error ? error.message : String(error))
  }
})

server.listen(port, () => console.log(`Listening on http://localhost:${port}/graphql`))
