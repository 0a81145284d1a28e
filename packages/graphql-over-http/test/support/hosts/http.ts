import { createServer } from 'node:http'
import { createHandler, type RequestContext } from '../../../src/adapters/http.ts'
import type { Host } from './host.ts'
import { mount, toPath } from './mount.ts'
import { nodeHost } from './node-host.ts'

export const httpHosts: readonly Host[] = [
  nodeHost('node:http', (probe) => {
    const handlers = mount(
      probe,
      ({ res }: RequestContext, name, value) => {
        res.setHeader(name, value)
      },
      createHandler,
    )
    return createServer((req, res) => {
      const handler = handlers.get(toPath(req.url))
      if (handler) handler(req, res)
      else res.writeHead(404).end()
    })
  }),
]
