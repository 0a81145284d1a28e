import { type Answer, type Call, redirect } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import type { ExternalProvider } from '../../../plugins/providers/oauth/provider.ts'
import type { Services } from '../../../services.ts'
import { findProvider } from '../../custom-providers/find-provider.ts'
import { findRedirectTarget } from '../../redirects/redirect-location.ts'
import { parseChallenge } from '../../sessions/pkce.ts'
import { type ExternalRequest, startExternal } from '../external-sign-in.ts'

export const externalQuery = {
  provider: 'Identifier of the provider, such as github',
  scopes: 'Additional scopes to request, separated by commas or spaces',
  redirect_to:
    'URL to redirect to after the sign-in. Default: the Referer if it is permitted, otherwise SITE_URL',
  code_challenge: 'Starts a PKCE flow, which returns a code instead of tokens',
  code_challenge_method: 's256 or plain',
} as const

export const authorize = defineEndpoint({
  method: 'GET',
  path: '/authorize',
  summary: 'Redirects to a provider to sign in',
  allowed: 'anyone',
  limiter: 'authorize',
  query: { ...externalQuery, invite_token: 'The token from the link in an invitation' },
  success: { status: 302, description: 'Redirect to the provider' },
  async handle(call, services) {
    const { url: _, ...response } = await startRequest(call, services, {
      linking: undefined,
      isByScript: false,
    })
    return response
  },
})

/**
 * Parameters that are not passed on to the provider: our own, and those that decide where the
 * provider redirects and what it returns. `request` and `request_uri` could replace any of them
 * (RFC 9101).
 */
const withheld: ReadonlySet<string> = new Set([
  ...['provider', 'scopes', 'redirect_to', 'invite_token', 'skip_http_redirect'],
  ...['client_id', 'client_secret', 'redirect_uri', 'response_type', 'response_mode', 'scope'],
  ...['state', 'code_challenge', 'code_challenge_method', 'code_verifier'],
  ...['request', 'request_uri'],
])

type Purpose = Pick<ExternalRequest, 'linking' | 'isByScript'>

/** Redirects to a provider. @throws {ApiError} before anything is written. */
export async function startRequest(
  call: Call,
  services: Services,
  purpose: Purpose,
): Promise<Answer & { readonly headers: Record<string, string>; readonly url: string }> {
  const { query } = call
  const provider = await findProvider(services, query['provider'] ?? '')
  const parameters = Object.entries(query).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && !withheld.has(entry[0].toLowerCase()),
  )
  const request: ExternalRequest = {
    provider,
    scopes: (query['scopes'] ?? '').split(/[\s,]+/).filter((scope) => scope !== ''),
    parameters: Object.fromEntries(parameters),
    challenge: parseChallenge(query['code_challenge'], query['code_challenge_method']),
    redirectTo: findRedirectTarget(call, services.redirects),
    audience: call.audience,
    inviteToken: query['invite_token'] || undefined,
    ...purpose,
  }
  const started = await startExternal(services, request)
  const { url, state, browserSecret } = started
  const cookie =
    browserSecret === undefined
      ? {}
      : { 'set-cookie': createCookie(services, provider, state, browserSecret) }
  const response = redirect(url, 302)
  return { ...response, headers: { ...response.headers, ...cookie }, url }
}

/** With the prefix `__Host-`, no other host can set the cookie. */
export function toCookieName({ config }: Services, state: string): string {
  const prefix = config.api.externalUrl.startsWith('https:') ? '__Host-' : ''
  return `${prefix}auth-flow-${state}`
}

/** The cookie that the browser must present when it returns with the state. */
export function createCookie(
  services: Services,
  { returnsByForm }: Pick<ExternalProvider, 'returnsByForm'>,
  state: string,
  secret: string,
): string {
  return toCookie(toCookieName(services, state), secret, {
    ...cookieSettings(services),
    sameSite: returnsByForm ? 'None' : 'Lax',
  })
}

function cookieSettings({ config }: Services): CookieSettings {
  return {
    maxAgeSeconds: Math.floor(config.externalFlow.stateLifetimeMs / 1_000),
    isSecure: config.api.externalUrl.startsWith('https:'),
    sameSite: 'Lax',
  }
}

/**
 * Whether the client is a browser and not a program that follows redirects without keeping cookies.
 * A page that sends a browser here cannot change these headers.
 */
export function isBrowser({ header }: Pick<Call, 'header'>): boolean {
  const isNamedSo = (header('user-agent') ?? '').startsWith('Mozilla/')
  const keepsCookies = (header('cookie') ?? '') !== ''
  return isNamedSo || keepsCookies || header('sec-fetch-mode') === 'navigate'
}

/** Deletes the cookie of a finished flow. */
export function dropCookie(services: Services, state: string): string {
  return toCookie(toCookieName(services, state), '', {
    ...cookieSettings(services),
    maxAgeSeconds: 0,
  })
}

interface CookieSettings {
  readonly maxAgeSeconds: number
  /** Whether the cookie is sent over TLS only. `SameSite=None` requires it. */
  readonly isSecure: boolean
  /** `None`: the cookie is also sent with forms posted from other sites. */
  readonly sameSite: 'Lax' | 'None'
}

/**
 * Returns the value of a `Set-Cookie` header, with HttpOnly. The cookie's value must not need
 * quotes.
 */
export function toCookie(name: string, value: string, settings: CookieSettings): string {
  const { maxAgeSeconds, isSecure, sameSite } = settings
  const parts = [`${name}=${value}`, 'Path=/', `Max-Age=${maxAgeSeconds}`, 'HttpOnly']
  return [...parts, ...(isSecure ? ['Secure'] : []), `SameSite=${sameSite}`].join('; ')
}

/** Undefined when the browser sent no such cookie. */
export function readCookie(header: string | undefined, name: string): string | undefined {
  const pairs = (header ?? '').split(';').map((pair) => pair.trim())
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1)
}
