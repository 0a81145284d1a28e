import { createHash, createHmac, randomBytes } from 'node:crypto'
import { toIssuer } from '../../../config/oauth-server.ts'
import { ApiError } from '../../../errors.ts'
import type { Services } from '../../../services.ts'
import { TokenError } from '../../../tokens/json-web-token.ts'
import { findUserOfClaims, readSessionId } from '../../sessions/bearer.ts'
import type { Challenge } from '../../sessions/pkce.ts'
import { toLimitValues } from '../../sessions/statements/session-limits.ts'
import { type CallerRow, findActiveSession } from '../../sessions/statements/sessions.ts'

/** How long the built-in pages remember who has signed in. */
const lifetimeSeconds = 43_200

/** With the prefix `__Host-`, no other host can set the cookie. */
function toCookieName({ config }: Services, name: 'auth-session' | 'auth-page'): string {
  return `${config.api.externalUrl.startsWith('https:') ? '__Host-' : ''}${name}`
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
  return toCookie(services, 'auth-session', value, lifetimeSeconds)
}

export function dropSessionCookie(services: Services): string {
  return toCookie(services, 'auth-session', '', 0)
}

/** A cookie with a secret of the browser, which a sign-in with a provider is bound to. */
export function createPageSecret(services: Services): string {
  return toCookie(services, 'auth-page', randomBytes(32).toString('base64url'), lifetimeSeconds)
}

/** Verifier and challenge of a sign-in with a provider (PKCE). */
interface ProviderFlow {
  readonly verifier: string
  readonly challenge: Challenge
}

/**
 * Binds the sign-in with a provider to this browser and to the request of the client. Undefined if the browser
 * keeps no cookies.
 */
export function findProviderFlow(
  services: Services,
  cookie: string | undefined,
  requestId: string,
): ProviderFlow | undefined {
  const secret = findPageSecret(services, cookie)
  if (secret === undefined) return undefined
  const verifier = createHmac('sha256', secret).update(requestId).digest('base64url')
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  return { verifier, challenge: { challenge, method: 's256' } }
}

/** Undefined if the browser has no such cookie. */
export function findPageSecret(services: Services, cookie: string | undefined): string | undefined {
  const secret = readCookie(cookie, toCookieName(services, 'auth-page'))
  return /^[\w-]{43}$/.test(secret ?? '') ? secret : undefined
}

/**
 * The cookie is sent when another site links here, and not with the forms of other sites. It is limited
 * to the whole host, because the prefix `__Host-` requires that.
 */
function toCookie(
  services: Services,
  name: Parameters<typeof toCookieName>[1],
  value: string,
  maxAgeSeconds: number,
): string {
  const isSecure = services.config.api.externalUrl.startsWith('https:')
  const parts = [
    `${toCookieName(services, name)}=${value}`,
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
  const token = readCookie(cookie, toCookieName(services, 'auth-session'))
  if (!token) return undefined
  try {
    const claims = services.signer.verify(token, Math.floor(services.now() / 1_000))
    if (claims['token_use'] !== 'browser') return undefined
    // The assurance level is that of the session.
    const visitor = await findUserOfClaims({ ...claims, aal: 'aal2' }, services)
    // Access tokens expire before the limits of a session matter; the cookie does not.
    const limits = toLimitValues(services.config.tokens.sessions, services.now())
    const sessionId = readSessionId(claims)
    const [current] = await services.db.run(findActiveSession, { sessionId, ...limits })
    return current === undefined ? undefined : visitor
  } catch (error) {
    if (error instanceof TokenError || error instanceof ApiError) return undefined
    throw error
  }
}

function readCookie(cookie: string | undefined, name: string): string | undefined {
  const pairs = (cookie ?? '').split(';').map((pair) => pair.trim())
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1)
}
