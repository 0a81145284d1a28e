import type { AccessTokenClaims } from '../verifier.ts'
import { createReadClaims, type RequireTokenOptions } from './read-claims.ts'

export type { RequireTokenOptions } from './read-claims.ts'

/** The part of Hono's `Context` that is needed. */
interface HonoContext {
  readonly req: {
    readonly method: string
    readonly url: string
    header(name: string): string | undefined
  }
  set(key: 'claims', value: unknown): void
}

/**
 * A middleware for Hono. The claims are in the variable `claims`.
 *
 * @example
 * ```ts
 * import { type AccessTokenClaims, createVerifier } from '@portcullis/auth/verify'
 * import { requireToken } from '@portcullis/auth/verify/hono'
 * import { Hono } from 'hono'
 *
 * const app = new Hono<{ Variables: { claims: AccessTokenClaims } }>()
 * app.use(requireToken({ verifier: createVerifier({ authUrl: 'https://auth.example.com' }) }))
 * app.get('/me', (c) => c.json(c.get('claims')))
 * ```
 */
export function requireToken<Claims extends AccessTokenClaims>(
  options: RequireTokenOptions<Claims>,
) {
  const readClaims = createReadClaims(options)
  return async (c: HonoContext, next: () => Promise<void>): Promise<Response | undefined> => {
    const { method, url } = c.req
    const outcome = await readClaims({
      authorization: c.req.header('authorization'),
      dpop: c.req.header('dpop'),
      method,
      url,
    })
    if (outcome.refusal) {
      const { status, headers, body } = outcome.refusal
      return new Response(body, { status, headers })
    }
    c.set('claims', outcome.claims)
    await next()
    return undefined
  }
}
