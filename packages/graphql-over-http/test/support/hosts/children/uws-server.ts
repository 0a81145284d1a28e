// Runs on the newest Node for which uWebSockets has a binary; its module is an argument.

import {
  createHandler,
  type HttpRequest,
  type HttpResponse,
  parseRequestParams,
  type RequestContext,
} from '../../../../src/adapters/uws.ts'
import { mount } from '../mount.ts'
import { openProbe } from '../probe.ts'

interface Uws {
  App(): App
  us_socket_local_port(socket: object): number
}
interface App {
  any(path: string, handler: (res: HttpResponse, req: HttpRequest) => unknown): App
  listen(host: string, port: number, callback: (socket: object | false) => void): App
}

const [, , modulePath] = process.argv
if (modulePath === undefined) throw new Error('usage: uws-server.ts MODULE')
const uws: Uws = await import(modulePath)

const probe = openProbe()
const handlers = mount(
  probe,
  ({ res }: RequestContext, name, value) => {
    res.cork(() => res.writeHeader(name, value))
  },
  createHandler,
)

const app = uws.App()
for (const [path, handler] of handlers) app.any(path, handler)
app.any('/params', async (res, req) => {
  const abortion = { current: false }
  const answer = (status: string, body: string) =>
    res.cork(() => {
      res.writeStatus(status)
      res.end(body)
    })
  try {
    const params = await parseRequestParams(req, res, abortion, { bodyLimitBytes: 100 })
    if (params && !abortion.current) answer('200 OK', JSON.stringify(params))
  } catch (error) {
    answer("418 I'm a Teapot", error instanceof Error ? error.message : '')
  }
})
app.any('/probe', (res) => res.end(JSON.stringify(probe.take())))
app.any('/*', (res) => {
  res.writeStatus('404 Not Found')
  res.end()
})
app.listen('127.0.0.1', 0, (socket) => {
  if (!socket) throw new Error('cannot listen')
  console.log(uws.us_socket_local_port(socket))
})

process.stdin.on('end', () => process.exit()).resume()
