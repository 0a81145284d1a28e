// Rate limits inside your own server. STORE=redis://127.0.0.1:6379 shares the counters.

import { createServer } from 'node:http'
import { createRateLimiter, ipKey } from '@portcullis/ratelimit'
import { limitRequests } from '@portcullis/ratelimit/use/node'

const port = Number(process.env.PORT ?? 4000)

const limiter = createRateLimiter({
  store: process.env.STORE ?? 'memory:',
  limits: { ip: '3/minute' },
})

const limit = limitRequests({
  limiter,
  keys: (request) => ({ ip: ipKey(request.socket.remoteAddress) }),
})

const server = createServer(async (request, response) => {
  if (await limit(request, response)) response.end('Hello!\n')
})

server.listen(port, () => console.log(`Listening on http://localhost:${port}/`))

process.once('SIGTERM', () => {
  server.close(() => void limiter.close())
})
