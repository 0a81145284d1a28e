// An API whose limits depend on the plan of the user and on the tenant that the user belongs to.

import { type AccessTokenClaims, createVerifier } from '@portcullis/auth/verify'
import { requireToken } from '@portcullis/auth/verify/express'
import { createRateLimiter, ipKey } from '@portcullis/ratelimit'
import { limitRequests } from '@portcullis/ratelimit/use/express'
import express, { type Response } from 'express'

const port = Number(process.env.PORT ?? 4000)
const verifier = createVerifier({ authUrl: process.env.AUTH_URL ?? 'http://localhost:8081' })

const limiter = createRateLimiter({
  store: process.env.STORE ?? 'memory:',
  limits: {
    ip: '600/minute',
    // Each user has a counter; the plan decides on its limit.
    plan: {
      values: {
        free: { per: { user: '5/minute' } },
        pro: { per: { user: '100/minute' } },
      },
    },
    // All users of a tenant share a counter. Large customers have higher limits.
    tenant: { limit: '20/minute', values: { 'big-customer': '10000/minute' } },
  },
})

/** Only administrators can change `app_metadata`, so its values can be trusted. */
function toKeys(response: Response) {
  const { sub, app_metadata = {} }: AccessTokenClaims = response.locals['claims']
  const { plan, tenant } = app_metadata
  return {
    // An unknown plan would have no limit, so it counts as the lowest one.
    plan: plan === 'pro' ? 'pro' : 'free',
    user: sub,
    // A key without a value is not counted.
    tenant: typeof tenant === 'string' ? tenant : undefined,
  }
}

const app = express()
// Guesses of tokens are limited too, so addresses are counted before tokens are verified.
app.use(limitRequests({ limiter, keys: ({ ip }) => ({ ip: ipKey(ip) }) }))
app.use(requireToken({ verifier }))
app.use(limitRequests({ limiter, keys: (_request, response) => toKeys(response) }))

app.get('/plan', (_request, response) => {
  const { plan, tenant } = toKeys(response)
  response.json({ plan, tenant })
})

app.listen(port, () => console.log(`Listening on http://localhost:${port}/`))
