import { createRateLimiter } from '@portcullis/limiter'
import { limitRequests as limitExpress } from '@portcullis/limiter/use/express'
import { limitRequests as limitFastify } from '@portcullis/limiter/use/fastify'
import { serveExpress, serveFastify } from './hosts.mjs'

const limiter = createRateLimiter({ limits: { ip: '1000000000/hour' } })
const keys = ({ ip }) => ({ ip })

export const plainExpress = () => serveExpress()
export const plainFastify = () => serveFastify()
export const express = () => serveExpress(limitExpress({ limiter, keys }))
export const fastify = () =>
  serveFastify((app) => app.addHook('onRequest', limitFastify({ limiter, keys })))
