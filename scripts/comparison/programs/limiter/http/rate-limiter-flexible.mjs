import { RateLimiterMemory } from 'rate-limiter-flexible'
import { serveExpress } from './hosts.mjs'

const limiter = new RateLimiterMemory({ points: 1_000_000_000, duration: 3600 })

export const express = () =>
  serveExpress(async ({ ip }, response, next) => {
    try {
      const { remainingPoints, msBeforeNext } = await limiter.consume(ip)
      response.set('RateLimit-Limit', String(limiter.points))
      response.set('RateLimit-Remaining', String(remainingPoints))
      response.set('RateLimit-Reset', String(Math.ceil(msBeforeNext / 1000)))
      next()
    } catch (error) {
      next(error)
    }
  })
