import { createServer, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { createHandler } from '@portcullis/graphql-over-http'
import { schema } from './schema.ts'

const port = Number(process.env.PORT ?? 4000)

// The core handler does not depend on a host: pass it the parts of a request, and write its response.
// An adapter does the same, and also handles limits and disconnected clients.
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
    // Sends the error to the client: useful in development, but not safe in production.
    res.writeHead(500).end(error instanceof Error ? error.message : String(error))
  }
})

server.listen(port, () => console.log(`Listening on http://localhost:${port}/graphql`))
