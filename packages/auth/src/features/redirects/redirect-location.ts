import { type ApiError, type ErrorCode, invalid } from '../../errors.ts'
import type { TokenResponse } from '../sessions/sessions.ts'
import { type Redirects, serialiseUrl } from './redirects.ts'

/** Names and values of a query or a fragment. */
export type Parameters = Readonly<Record<string, string>>

/**
 * The parameters of a redirect with tokens. They go into the fragment, which browsers do not send
 * to servers.
 */
export function toTokenParameters(tokens: TokenResponse, more: Parameters = {}): Parameters {
  const { access_token, expires_at, expires_in, refresh_token, token_type } = tokens
  const fields = { access_token, expires_at, expires_in, refresh_token, token_type }
  const texts = Object.entries(fields).map(([name, value]) => [name, `${value}`] as const)
  return { ...Object.fromEntries(texts), ...more }
}

const errorNames: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  401: 'unauthorized_client',
  403: 'access_denied',
  500: 'server_error',
  503: 'temporarily_unavailable',
}

const denials: ReadonlySet<string> = new Set([
  'signup_disabled',
  'user_banned',
  'provider_email_needs_verification',
] satisfies ErrorCode[])

/** @param otherwise the `error` for statuses without a name. */
export function toErrorParameters(
  { status, code, message }: ApiError,
  otherwise?: string,
): Parameters {
  const error = denials.has(code) ? 'access_denied' : (errorNames[status] ?? otherwise)
  return {
    ...(error !== undefined && { error }),
    error_code: code,
    error_description: message,
  }
}

/** Replaces an existing fragment. Clients recognise the redirect by `sb`. */
export function withFragment(target: string, parameters: Parameters): string {
  const fragment = new URLSearchParams({ ...parameters, sb: '' })
  fragment.sort()
  return serialiseUrl(target, (url) => {
    url.hash = `${fragment}`
  })
}

/** Adds parameters to the query and replaces those with the same name. */
export function withQuery(target: string, parameters: Parameters): string {
  return serialiseUrl(target, ({ searchParams }) => {
    for (const [name, value] of Object.entries(parameters)) searchParams.set(name, value)
  })
}

/** What a request says about the redirect. */
export interface RedirectRequest {
  readonly query: Readonly<Record<string, string | undefined>>
  readonly isSdk: boolean
  header(name: string): string | undefined
}

/**
 * Where the browser is finally redirected to: the URL in the request, if it is permitted; otherwise
 * the referrer, if it is permitted; otherwise the site. A URL that is not permitted fails the
 * request before anything is written, except for clients of Supabase Auth, which expect to be
 * redirected to the site.
 * @throws {ApiError}
 */
export function findRedirectTarget(
  call: RedirectRequest,
  redirects: Redirects,
  inBody?: string,
): string {
  // An empty value must not hide one that is set elsewhere.
  const named = call.header('redirect_to') || call.query['redirect_to'] || inBody
  if (named) {
    const verdict = redirects.judge(named)
    if (verdict.isPermitted) return verdict.target
    if (!call.isSdk) throw invalid('redirect_to is not permitted')
    return redirects.siteUrl
  }
  const verdict = redirects.judge(call.header('referer') ?? '')
  return verdict.isPermitted ? verdict.target : redirects.siteUrl
}
