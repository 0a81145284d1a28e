// Limits inside a server of your own. STORE=redis://127.0.0.1:6379 shares the counters.

import { createServer } from 'node:http'
import { createRateLimiter, ipKey } from '@portcullis/ratelimit'
import { limitRequests } from '@portcullis/ratelimit/use/node'

const port = Number(process.env.PORT ?? 4000)

const limiter = createRateLimiter({
  store: process.env.STORE ?? 'memory:',
  rules: `
    domain: my-server
    descriptors:
      - key: address
        rate_limit: { unit: minute, requests_per_unit: 3 }
  `,
})

const limit = limitRequests({
  limiter,
  domain: 'my-server',
  descriptors: (request) => [{ address: ipKey(request.socket.remoteAddress) }],
})

const server = createServer(async (request, response) => {
  if (await limit(request, response)) response.end('Hello!\n')
})

server.listen(port, () => console.log(`Listening on http://localhost:${port}/`))
