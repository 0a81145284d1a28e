import type { AccessTokenClaims } from '../verifier.ts'
import { createReadClaims, type RequireTokenOptions } from './read-claims.ts'

export type { RequireTokenOptions } from './read-claims.ts'

/** Called with the claims of a verified token. They are undefined only if tokens are optional. */
export type TokenHandler<Claims> = (
  request: Request,
  claims: Claims,
) => Response | Promise<Response>

/**
 * Wraps a fetch handler, as used by Next.js routes, Bun, Deno and Cloudflare Workers.
 *
 * @example
 * ```ts
 * import { createVerifier } from '@portcullis/auth/verify'
 * import { requireToken } from '@portcullis/auth/verify/fetch'
 *
 * const verifier = createVerifier({ authUrl: 'https://auth.example.com' })
 * export const GET = requireToken({ verifier }, (_request, { sub }) => Response.json({ sub }))
 * ```
 */
export function requireToken<Claims extends AccessTokenClaims>(
  options: RequireTokenOptions<Claims> & { readonly isOptional: true },
  handle: TokenHandler<Claims | undefined>,
): (request: Request) => Promise<Response>
export function requireToken<Claims extends AccessTokenClaims>(
  options: RequireTokenOptions<Claims>,
  handle: TokenHandler<Claims>,
): (request: Request) => Promise<Response>
export function requireToken<Claims extends AccessTokenClaims>(
  options: RequireTokenOptions<Claims>,
  handle: TokenHandler<Claims> | TokenHandler<Claims | undefined>,
): (request: Request) => Promise<Response> {
  const readClaims = createReadClaims(options)
  if (typeof handle !== 'function')
    throw new TypeError(
      'requireToken of "@portcullis/auth/verify/fetch" needs a handler: requireToken({ verifier }, handler). ' +
        'For other servers import requireToken from "@portcullis/auth/verify/express", "…/fastify", ' +
        '"…/hono" or "…/graphql"',
    )
  return async (request) => {
    const { headers, method, url } = request
    const outcome = await readClaims({
      authorization: headers.get('authorization'),
      dpop: headers.get('dpop'),
      method,
      url,
    })
    if (outcome.refusal) {
      const { status, body } = outcome.refusal
      return new Response(body, { status, headers: outcome.refusal.headers })
    }
    return (handle as TokenHandler<Claims | undefined>)(request, outcome.claims)
  }
}
