import { type Answer, type Call, redirect } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import type { ExternalProvider } from '../../../plugins/providers/oauth/provider.ts'
import type { Services } from '../../../services.ts'
import { findRedirectTarget } from '../../redirects/redirect-location.ts'
import { parseChallenge } from '../../sessions/pkce.ts'
import { type ExternalRequest, startExternal } from '../external-sign-in.ts'

export const externalQuery = {
  provider: 'Its identifier',
  scopes: 'More scopes to ask for, separated by commas or spaces',
  redirect_to: 'Where to go in the end; otherwise to the site',
  code_challenge: 'Of a PKCE flow, which ends with a code in place of tokens',
  code_challenge_method: 's256 or plain',
} as const

export const authorize = defineEndpoint({
  method: 'GET',
  path: '/authorize',
  summary: 'Sends somebody to a provider to sign in there',
  allowed: 'anyone',
  limiter: 'authorize',
  query: { ...externalQuery, invite_token: 'That of the link in an invitation' },
  success: { status: 302, description: 'To the provider' },
  async handle(call, services) {
    const { url: _, ...answer } = await startRequest(call, services, {
      linking: undefined,
      isByScript: false,
    })
    return answer
  },
})

/**
 * Not for the provider: ours, and what decides where it sends people and what with. `request` and
 * `request_uri` could stand for any of them (RFC 9101).
 */
const kept: ReadonlySet<string> = new Set([
  ...['provider', 'scopes', 'redirect_to', 'invite_token', 'skip_http_redirect'],
  ...['client_id', 'client_secret', 'redirect_uri', 'response_type', 'response_mode', 'scope'],
  ...['state', 'code_challenge', 'code_challenge_method', 'code_verifier'],
  ...['request', 'request_uri'],
])

type Purpose = Pick<ExternalRequest, 'linking' | 'isByScript'>

/** Sends somebody to a provider. @throws {ApiError} before anything has happened. */
export async function startRequest(
  call: Call,
  services: Services,
  purpose: Purpose,
): Promise<Answer & { readonly headers: Record<string, string>; readonly url: string }> {
  const { query } = call
  const provider = services.providers.find(query['provider'] ?? '')
  const parameters = Object.entries(query).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && !kept.has(entry[0].toLowerCase()),
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
  const answer = redirect(url, 302)
  return { ...answer, headers: { ...answer.headers, ...cookie }, url }
}

/** Only this host can set the first of them, so that no other can put one into a browser. */
export function toCookieName({ config }: Services, state: string): string {
  const prefix = config.api.externalUrl.startsWith('https:') ? '__Host-' : ''
  return `${prefix}auth-flow-${state}`
}

/** What the browser must have that comes back with the state. */
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
 * Whether a browser asks, and not a program that follows redirects and may keep no cookies. A page
 * that leads a browser here cannot change what it says about itself.
 */
export function isBrowser({ header }: Pick<Call, 'header'>): boolean {
  const isNamedSo = (header('user-agent') ?? '').startsWith('Mozilla/')
  const keepsCookies = (header('cookie') ?? '') !== ''
  return isNamedSo || keepsCookies || header('sec-fetch-mode') === 'navigate'
}

/** Takes the cookie of a flow that is over from the browser. */
export function dropCookie(services: Services, state: string): string {
  return toCookie(toCookieName(services, state), '', {
    ...cookieSettings(services),
    maxAgeSeconds: 0,
  })
}

interface CookieSettings {
  readonly maxAgeSeconds: number
  /** Whether it goes over TLS only; without it no other site can be let send it. */
  readonly isSecure: boolean
  /** `None`: also with forms that pages of other sites post. */
  readonly sameSite: 'Lax' | 'None'
}

/** The value of a `Set-Cookie` that no script reads. The value must need no quotes. */
export function toCookie(name: string, value: string, settings: CookieSettings): string {
  const { maxAgeSeconds, isSecure, sameSite } = settings
  const parts = [`${name}=${value}`, 'Path=/', `Max-Age=${maxAgeSeconds}`, 'HttpOnly']
  return [...parts, ...(isSecure ? ['Secure'] : []), `SameSite=${sameSite}`].join('; ')
}

/** Undefined: the browser has sent no such cookie. */
export function readCookie(header: string | undefined, name: string): string | undefined {
  const pairs = (header ?? '').split(';').map((pair) => pair.trim())
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1)
}
