import { rateLimit } from 'express-rate-limit'
import { serveExpress } from './hosts.mjs'

export const express = () =>
  serveExpress(
    rateLimit({
      windowMs: 3_600_000,
      limit: 1_000_000_000,
      standardHeaders: 'draft-6',
      legacyHeaders: false,
      keyGenerator: ({ ip }) => ip,
      // Its validations run on the first request only; this one would reject the key above.
      validate: { keyGeneratorIpFallback: false },
    }),
  )
