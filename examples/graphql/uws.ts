// On Node 22, after `npm install uws-pack`: node examples/graphql/uws.ts
import {
  createHandler,
  type HttpRequest,
  type HttpResponse,
} from '@portcullis/graphql-over-http/use/uws'
import { schema } from './schema.ts'

/** The part of uWebSockets that this file uses. */
interface App {
  any(path: string, handler: (res: HttpResponse, req: HttpRequest) => void): App
  listen(port: number, callback: (socket: unknown) => void): App
}

// The npm registry has uWebSockets as `uws-pack`, with binaries for Node 22. On GitHub it is
// `uWebSockets.js`, with a default export. The name is a variable because it is not installed here.
const name = process.env.UWS_MODULE ?? 'uws-pack'
const { App }: { App: () => App } = await import(name)
const port = Number(process.env.PORT ?? 4000)

App()
  .any('/graphql', createHandler({ schema }))
  .any('/*', (res) => {
    res.writeStatus('404 Not Found')
    res.end()
  })
  .listen(port, (socket) => {
    console.log(socket ? `Listening on http://localhost:${port}/graphql` : `Port ${port} is taken`)
  })
