import { createServer } from 'node:http'
import { createAdaptorServer, getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { createHandler } from '../../../src/adapters/fetch.ts'
import {
  createHandler as createHonoHandler,
  type RequestContext,
} from '../../../src/adapters/hono.ts'
import type { Host } from './host.ts'
import { mount } from './mount.ts'
import { nodeHost } from './node-host.ts'
import { openProbe, type Probe } from './probe.ts'

/**
 * By default the bridge replaces Request and Response for the whole process, which other test files
 * share. The example for Hono runs in its own process, with the default.
 */
const bridge = { overrideGlobalObjects: false }

const noResponseHandle = 'a fetch handler returns its response'

function createFetch(probe: Probe): (request: Request) => Promise<Response> {
  const handlers = mount(probe, undefined, createHandler)
  return async (request) => {
    const handler = handlers.get(new URL(request.url).pathname)
    return handler ? handler(request) : new Response(null, { status: 404 })
  }
}

export const fetchHosts: readonly Host[] = [
  {
    name: 'fetch, called directly',
    transport: 'none',
    limits: { noResponseHandle, noContentLength: 'nothing is sent' },
    async open() {
      const probe = openProbe()
      const handle = createFetch(probe)
      return {
        origin: 'http://localhost',
        port: 0,
        fetch: (input, init) => handle(new Request(input, init)),
        take: async () => probe.take(),
        close: async () => probe.close(),
      }
    },
  },
  nodeHost(
    'fetch on Node',
    (probe) => createServer(getRequestListener(createFetch(probe), bridge)),
    {
      noResponseHandle,
      noStatusText: 'the bridge does not send it',
    },
  ),
  nodeHost(
    'hono on Node',
    (probe) => {
      const app = new Hono()
      const handlers = mount(
        probe,
        ({ c }: RequestContext, name, value) => {
          c.header(name, value)
        },
        createHonoHandler,
      )
      for (const [path, handler] of handlers) app.all(path, handler)
      const server = createAdaptorServer({ fetch: app.fetch, ...bridge })
      if (!('closeAllConnections' in server)) throw new Error('not an HTTP/1 server')
      return server
    },
    { noStatusText: 'hono has none' },
  ),
]
