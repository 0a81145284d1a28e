import rateLimit from '@fastify/rate-limit'
import Fastify from 'fastify'

const app = Fastify()
await app.register(rateLimit, {
  max: 3,
  timeWindow: 60_000,
  allowList: ({ url }) => url === '/healthz',
  errorResponseBuilder: () => ({ statusCode: 429, error: 'Too many requests' }),
  enableDraftSpec: true,
})
app.get('/*', () => 'welcome')
await app.listen({ port: Number(process.env.PORT) })
