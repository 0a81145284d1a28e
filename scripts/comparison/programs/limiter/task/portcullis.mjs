import { createRateLimiter, ipKey } from '@portcullis/limiter'
import { limitRequests } from '@portcullis/limiter/use/express'
import express from 'express'

const limiter = createRateLimiter({ limits: { ip: '3/minute' } })
const app = express()
app.use(
  limitRequests({
    limiter,
    keys: ({ ip }) => ({ ip: ipKey(ip) }),
    skip: ({ path }) => path === '/healthz',
    onLimited: () => ({ body: { error: 'Too many requests' } }),
  }),
)
app.use((_request, response) => response.send('welcome'))
app.listen(process.env.PORT)
