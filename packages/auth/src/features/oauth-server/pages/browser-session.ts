import { toIssuer } from '../../../config/oauth-server.ts'
import { ApiError } from '../../../errors.ts'
import type { Services } from '../../../services.ts'
import { TokenError } from '../../../tokens/json-web-token.ts'
import { findUserOfClaims } from '../../sessions/bearer.ts'
import type { CallerRow } from '../../sessions/statements/sessions.ts'

/** How long the built-in pages remember who has signed in. */
const lifetimeSeconds = 43_200

/** With the prefix `__Host-`, no other host can set the cookie. */
function toCookieName({ config }: Services): string {
  return `${config.api.externalUrl.startsWith('https:') ? '__Host-' : ''}auth-session`
}

/**
 * The cookie with the session of a user who has signed in on the built-in page. It is not an access token:
 * no other endpoint accepts it.
 */
export function createSessionCookie(services: Services, userId: string, sessionId: string): string {
  const issuedAt = Math.floor(services.now() / 1_000)
  const value = services.signer.sign({
    iss: toIssuer(services.config),
    sub: userId,
    session_id: sessionId,
    iat: issuedAt,
    exp: issuedAt + lifetimeSeconds,
    token_use: 'browser',
  })
  return toCookie(services, value, lifetimeSeconds)
}

export function dropSessionCookie(services: Services): string {
  return toCookie(services, '', 0)
}

/**
 * The cookie is sent when another site links here, and not with the forms of other sites. It is limited
 * to the whole host, because the prefix `__Host-` requires that.
 */
function toCookie(services: Services, value: string, maxAgeSeconds: number): string {
  const isSecure = services.config.api.externalUrl.startsWith('https:')
  const parts = [
    `${toCookieName(services)}=${value}`,
    'Path=/',
    `Max-Age=${maxAgeSeconds}`,
    'HttpOnly',
    'SameSite=Lax',
  ]
  return [...parts, ...(isSecure ? ['Secure'] : [])].join('; ')
}

/** The user of this browser; undefined without a session, or when it has ended. */
export async function findVisitor(
  services: Services,
  cookie: string | undefined,
): Promise<CallerRow | undefined> {
  const prefix = `${toCookieName(services)}=`
  const pairs = (cookie ?? '').split(';').map((pair) => pair.trim())
  const token = pairs.find((pair) => pair.startsWith(prefix))?.slice(prefix.length)
  if (!token) return undefined
  try {
    const claims = services.signer.verify(token, Math.floor(services.now() / 1_000))
    if (claims['token_use'] !== 'browser') return undefined
    // The assurance level is that of the session.
    return await findUserOfClaims({ ...claims, aal: 'aal2' }, services)
  } catch (error) {
    if (error instanceof TokenError || error instanceof ApiError) return undefined
    throw error
  }
}
