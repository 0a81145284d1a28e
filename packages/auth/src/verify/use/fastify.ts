import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AccessTokenClaims } from '../verifier.ts'
import { createReadClaims, type RequireTokenOptions } from './read-claims.ts'

export type { RequireTokenOptions } from './read-claims.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The claims of the access token that {@link requireToken} has verified. */
    claims?: AccessTokenClaims | undefined
  }
}

/**
 * A hook for Fastify 5, for all routes or for one. The claims are in `request.claims`.
 *
 * @example
 * ```ts
 * import { createVerifier } from '@portcullis/auth/verify'
 * import { requireToken } from '@portcullis/auth/verify/fastify'
 * import Fastify from 'fastify'
 *
 * const app = Fastify()
 * const verifier = createVerifier({ authUrl: 'https://auth.example.com' })
 * app.addHook('onRequest', requireToken({ verifier }))
 * app.get('/me', async (request) => request.claims)
 * ```
 */
export function requireToken(options: RequireTokenOptions) {
  const readClaims = createReadClaims(options)
  return async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const { headers, method, originalUrl: url } = request
    const { authorization, dpop } = headers
    const outcome = await readClaims({
      authorization,
      dpop: typeof dpop === 'string' ? dpop : undefined,
      method,
      url,
    })
    if (outcome.refusal) {
      const { status, headers, body } = outcome.refusal
      return reply.code(status).headers(headers).send(body)
    }
    request.claims = outcome.claims
    return undefined
  }
}
