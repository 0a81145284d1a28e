import express from 'express'
import { RateLimiterMemory } from 'rate-limiter-flexible'

const limiter = new RateLimiterMemory({ points: 3, duration: 60 })

function report(response, { remainingPoints, msBeforeNext }) {
  response.set('RateLimit-Limit', String(limiter.points))
  response.set('RateLimit-Remaining', String(remainingPoints))
  response.set('RateLimit-Reset', String(Math.ceil(msBeforeNext / 1000)))
}

const app = express()
app.use(async ({ ip, path }, response, next) => {
  if (path === '/healthz') return next()
  try {
    report(response, await limiter.consume(ip))
    next()
  } catch (refused) {
    if (refused instanceof Error) return next(refused)
    report(response, refused)
    response.set('Retry-After', String(Math.ceil(refused.msBeforeNext / 1000)))
    response.status(429).json({ error: 'Too many requests' })
  }
})
app.use((_request, response) => response.send('welcome'))
app.listen(process.env.PORT)
