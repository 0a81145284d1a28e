import { createSecureServer, createServer } from 'node:http2'
import { createHandler, type RequestContext } from '../../../src/adapters/http2.ts'
import type { Host } from './host.ts'
import { certificate, http2Host } from './http2-host.ts'
import { mount, toPath } from './mount.ts'
import type { Probe } from './probe.ts'

type Listener = ReturnType<typeof createHandler>

function createListener(probe: Probe): Listener {
  const handlers = mount(
    probe,
    ({ res }: RequestContext, name, value) => {
      res.setHeader(name, value)
    },
    createHandler,
  )
  return async (req, res) => {
    const handler = handlers.get(toPath(req.url))
    if (handler) await handler(req, res)
    else res.writeHead(404).end()
  }
}

export const http2Hosts: readonly Host[] = [
  http2Host('node:http2, plaintext', 'http', (probe) => createServer(createListener(probe))),
  http2Host('node:http2, TLS', 'https', (probe) =>
    createSecureServer(certificate, createListener(probe)),
  ),
]
