import { Ratelimit } from '@upstash/ratelimit'
import { Redis } from '@upstash/redis'
import express from 'express'

const redis = new Redis({ url: process.env.UPSTASH_URL, token: process.env.UPSTASH_TOKEN })
const limiter = new Ratelimit({ redis, limiter: Ratelimit.fixedWindow(3, '60 s') })

const app = express()
app.use(async ({ ip, path }, response, next) => {
  if (path === '/healthz') return next()
  const { success, limit, remaining, reset } = await limiter.limit(ip)
  const seconds = String(Math.ceil((reset - Date.now()) / 1000))
  response.set('RateLimit-Limit', String(limit))
  response.set('RateLimit-Remaining', String(remaining))
  response.set('RateLimit-Reset', seconds)
  if (success) return next()
  response.set('Retry-After', seconds)
  response.status(429).json({ error: 'Too many requests' })
})
app.use((_request, response) => response.send('welcome'))
app.listen(process.env.PORT)
