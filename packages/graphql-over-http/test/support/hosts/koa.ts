import { createServer } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import { createRequire } from 'node:module'
import Koa from 'koa'
import mountKoa from 'koa-mount'
import { createHandler, type RequestContext } from '../../../src/adapters/koa.ts'
import type { Host } from './host.ts'
import { http2Host } from './http2-host.ts'
import { mount } from './mount.ts'
import { nodeHost } from './node-host.ts'
import type { Probe } from './probe.ts'

const require = createRequire(import.meta.url)
// The older major version has no types under its alias; the API used here is the same.
const Koa2: typeof Koa = require('koa-2')
const bodyParser: () => Koa.Middleware = require('koa-bodyparser')

export const koaHosts: readonly Host[] = [
  koaHost('koa 2', Koa2),
  koaHost('koa 3', Koa),
  koaHost('koa 3 with koa-bodyparser', Koa, bodyParser()),
  http2Host('koa 3 over HTTP/2', 'http', (probe) => createHttp2Server(build(probe, new Koa()))),
]

function koaHost(name: string, Framework: typeof Koa, parser?: Koa.Middleware): Host {
  return nodeHost(
    name,
    (probe) => createServer(build(probe, new Framework(), parser)),
    parser
      ? {
          readsBodyItself: 'koa-bodyparser has its own limit',
          parsesBodyItself: 'koa-bodyparser answers malformed JSON as text',
        }
      : {},
  )
}

function build(probe: Probe, app: Koa, parser?: Koa.Middleware): ReturnType<Koa['callback']> {
  // Otherwise Koa prints broken connections and the errors of body parsers.
  app.silent = true
  if (parser) app.use(parser)
  const handlers = mount(
    probe,
    ({ res }: RequestContext, header, value) => {
      res.set(header, value)
    },
    createHandler,
  )
  for (const [path, handler] of handlers) app.use(mountKoa(path, handler))
  return app.callback()
}
