import rateLimit from '@fastify/rate-limit'
import { serveFastify } from './hosts.mjs'

const options = {
  max: 1_000_000_000,
  timeWindow: 3_600_000,
  enableDraftSpec: true,
  keyGenerator: ({ ip }) => ip,
}

export const fastify = () => serveFastify((app) => app.register(rateLimit, options))
