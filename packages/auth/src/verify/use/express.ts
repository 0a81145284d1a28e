import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AccessTokenClaims } from '../verifier.ts'
import { createReadClaims, type RequireTokenOptions } from './read-claims.ts'

export type { RequireTokenOptions } from './read-claims.ts'

/**
 * A middleware for Express 4 and 5 and Connect. The claims are in `request.claims`, and in
 * `response.locals.claims` of Express.
 *
 * @example
 * ```ts
 * import { createVerifier } from '@portcullis/auth/verify'
 * import { requireToken } from '@portcullis/auth/verify/express'
 * import express from 'express'
 *
 * const app = express()
 * app.use(requireToken({ verifier: createVerifier({ authUrl: 'https://auth.example.com' }) }))
 * app.get('/me', (_request, response) => void response.json(response.locals['claims']))
 * ```
 */
export function requireToken<Claims extends AccessTokenClaims>(
  options: RequireTokenOptions<Claims>,
) {
  const readClaims = createReadClaims(options)
  return (
    request: IncomingMessage & { claims?: Claims | undefined; originalUrl?: string },
    response: ServerResponse & { locals?: Record<string, unknown> },
    next: (error?: unknown) => void,
  ): void => {
    const { headers, method, originalUrl, url } = request
    const { authorization, dpop } = headers
    readClaims({
      authorization,
      dpop: typeof dpop === 'string' ? dpop : undefined,
      method,
      url: originalUrl ?? url,
    }).then((outcome) => {
      if (outcome.refusal) {
        const { status, headers, body } = outcome.refusal
        response.writeHead(status, headers).end(body)
        return
      }
      request.claims = outcome.claims
      if (response.locals) response.locals['claims'] = outcome.claims
      next()
    }, next)
  }
}
