import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { renderAuditPage } from '@portcullis/graphql-over-http/audit-page'
import { auditServer } from '@portcullis/graphql-over-http/audits'
import { createHandler } from '@portcullis/graphql-over-http/use/http'
import { schema } from '../graphql/schema.ts'
import { addTryIt } from './try-it.ts'

// Only this machine: an example has no business on the network.
const host = '127.0.0.1'

/**
 * Starts the example server of `npm start`: GraphQL at `/graphql`, and at `/` a page on how that very
 * server does in the audits, run anew each time the page is loaded.
 */
export async function openStartServer(port: number): Promise<{ server: Server; origin: string }> {
  const graphql = createHandler({ schema })
  const server = createServer((req, res) => {
    const path = req.url?.split('?')[0]
    if (path === '/graphql') void graphql(req, res)
    else if (path === '/' && (req.method === 'GET' || req.method === 'HEAD')) void sendPage(res)
    else res.writeHead(404).end('There is nothing here. Try / and /graphql\n')
  })

  let chosen = port
  const getOrigin = (name: string) => `http://${name}:${chosen}`
  async function sendPage(res: ServerResponse): Promise<void> {
    try {
      const results = await auditServer({ url: `${getOrigin(host)}/graphql` })
      const url = `${getOrigin('localhost')}/graphql`
      const page = addTryIt(await renderAuditPage(results, { url }), url)
      res.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page)
    } catch (error) {
      console.error('The audit page could not be made:', error)
      res.writeHead(500).end('The audit page could not be made; the terminal says why.\n')
    }
  }

  server.listen(port, host)
  await once(server, 'listening')
  const address = server.address()
  if (address !== null && typeof address === 'object') chosen = address.port
  return { server, origin: getOrigin('localhost') }
}
