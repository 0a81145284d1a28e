import { ApiError } from '../../../errors.ts'
import { type Answer, type Call, redirect } from '../../../http/call.ts'
import { defineEndpoint, type Endpoint } from '../../../http/endpoint.ts'
import type { Services } from '../../../services.ts'
import { isCustom } from '../../custom-providers/find-provider.ts'
import {
  type Parameters,
  toErrorParameters,
  toTokenParameters,
  withFragment,
  withQuery,
} from '../../redirects/redirect-location.ts'
import { finishExternal, type Returned } from '../external-return.ts'
import { claimExternal } from '../external-sign-in.ts'
import { dropCookie, isBrowser, readCookie, toCookieName } from './authorize.ts'

const parameters = {
  state: 'The state sent to the provider',
  code: 'The authorization code from the provider',
  error: 'Error code from the provider',
  error_description: 'Error message from the provider',
  oauth_token: 'OAuth 1.0a: the request token',
  oauth_verifier: 'OAuth 1.0a: the verifier from the provider',
  denied: 'OAuth 1.0a: the request token, if the user denied access',
} as const

const common = {
  summary: 'Handles the redirect from a provider and redirects to the site',
  allowed: 'anyone',
  limiter: 'callback',
  success: {
    status: 302,
    description:
      'Redirect to the site, with tokens in the fragment or with the code of a PKCE flow',
  },
} as const satisfies Partial<Endpoint>

/** Each custom provider has its own path, by which it cannot be confused with others. */
const paths = ['/callback', '/callback/:provider'] as const

export const callbacks: readonly Endpoint[] = paths.flatMap((path) => [
  defineEndpoint({
    ...common,
    path,
    method: 'GET',
    query: parameters,
    handle: (call, services) => handleReturn(call, services, call.query),
  }),
  // Apple sends users back with a form POST.
  defineEndpoint({
    ...common,
    path,
    method: 'POST',
    takesForms: true,
    handle: (call, services) => handleReturn(call, services, toTexts(call.body)),
  }),
])

type Texts = Readonly<Record<string, string | undefined>>

function toTexts(body: unknown): Texts {
  const entries = Object.entries(body ?? {})
  return Object.fromEntries(entries.filter(([, value]) => typeof value === 'string'))
}

/** Redirects to the site in any case, because a browser cannot handle an error response. */
async function handleReturn(call: Call, services: Services, texts: Texts): Promise<Answer> {
  const { state = '' } = texts
  const secret = readCookie(call.header('cookie'), toCookieName(services, state))
  const visitor = { browserSecret: secret, isBrowser: isBrowser(call) }
  const flow = await claimExternal(services, state, visitor).catch(toApiError)
  if (flow instanceof ApiError) {
    // Without a valid state, the redirect target of the request is unknown.
    const where = withQuery(services.redirects.siteUrl, toErrorParameters(flow, 'server_error'))
    return { ...redirect(where, 303), failure: flow }
  }
  const target = services.config.externalFlow.redirectUrl || flow.referrer
  const cookie = secret === undefined ? {} : { 'set-cookie': dropCookie(services, state) }
  const response = await finishFlow(call, services, flow, texts, target)
  return { ...response, headers: { ...response.headers, ...cookie } }
}

async function finishFlow(
  { client, externalUrl, params }: Call,
  services: Services,
  flow: Awaited<ReturnType<typeof claimExternal>>,
  texts: Texts,
  target: string,
): Promise<Answer> {
  if (!isCallbackOf(flow.provider_type, params['provider'], services)) {
    const message = 'The response came to the callback of another provider'
    return refuse(target, new ApiError('bad_oauth_callback', message))
  }
  const { denied = '', error_description: description = '' } = texts
  // OAuth 1.0a has no error parameter; the denied token is returned instead.
  const { error = denied === '' ? '' : 'access_denied' } = texts
  if (error !== '') {
    const parts = { error: cut(error), error_description: cut(description) }
    return redirect(withBoth(target, parts), 302)
  }
  const returned = await finishExternal(services, {
    flow,
    parameters: texts,
    client,
    externalUrl,
  }).catch(toApiError)
  if (returned instanceof ApiError) return refuse(target, returned)
  return redirect(toLocation(target, returned), 302)
}

/**
 * A malicious provider could send the browser on to another provider, whose code it would then get from this server
 * (mix-up, RFC 9700, section 4.4).
 * @param named - the provider that the path of the callback names.
 */
function isCallbackOf(provider: string, named: string | undefined, { config }: Services): boolean {
  const hasOwn = isCustom(provider) && !config.customOAuth.sharesCallback
  return named === (hasOwn ? provider : undefined)
}

function refuse(target: string, error: ApiError): Answer {
  const where = withBoth(target, toErrorParameters(error, 'server_error'))
  return { ...redirect(where, 302), failure: error }
}

/** Rethrows other errors, which are internal failures. */
function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  throw error
}

/** Limits the length of the provider's texts in the redirect URL. */
function cut(text: string): string {
  return text.slice(0, 500)
}

function withBoth(target: string, parts: Parameters): string {
  return withFragment(withQuery(target, parts), parts)
}

/**
 * The provider's tokens are added to the fragment only if scopes were requested, or in the
 * compatibility mode upstream.
 */
function toLocation(target: string, returned: Returned): string {
  if (returned.outcome === 'code') return withQuery(target, { code: returned.code })
  if (returned.outcome === 'linked') return withFragment(target, { message: 'Identity linked' })
  const { tokens, provider, providerTokens } = returned
  const { accessToken, refreshToken } = providerTokens ?? {}
  return withFragment(
    target,
    toTokenParameters(tokens, {
      provider,
      ...(accessToken !== undefined && { provider_token: accessToken }),
      ...(refreshToken !== undefined && { provider_refresh_token: refreshToken }),
    }),
  )
}
