import { ApiError, invalid } from '../../../errors.ts'
import { type Answer, type Call, json, redirect } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { Type } from '../../../http/schema.ts'
import { createMetadata } from '../../../saml/service-provider.ts'
import type { Services } from '../../../services.ts'
import { readCookie, toCookie, toCookieName } from '../../external/endpoints/authorize.ts'
import {
  findRedirectTarget,
  toErrorParameters,
  toTokenParameters,
  withFragment,
  withQuery,
} from '../../redirects/redirect-location.ts'
import { parseChallenge } from '../../sessions/pkce.ts'
import {
  claimSso,
  finishSso,
  requireServiceProvider,
  type SsoResult,
  startSso,
} from '../sign-in.ts'

const requires = (services: Services) => void requireServiceProvider(services)

export const startSsoSignIn = defineEndpoint({
  method: 'POST',
  path: '/sso',
  summary: 'Redirects to the identity provider of a company to sign in',
  allowed: 'anyone',
  requires,
  limiter: 'sso',
  captcha: 'always',
  body: Type.Object({
    provider_id: Type.Optional(Type.String({ description: 'ID of the identity provider' })),
    domain: Type.Optional(
      Type.String({ description: 'Email domain of the user, instead of an ID' }),
    ),
    redirect_to: Type.Optional(
      Type.String({ description: 'URL to redirect to after the sign-in. Default: SITE_URL' }),
    ),
    skip_http_redirect: Type.Optional(
      Type.Boolean({ description: 'true: return the URL instead of redirecting to it' }),
    ),
    code_challenge: Type.Optional(Type.String({ description: 'Starts a PKCE flow' })),
    code_challenge_method: Type.Optional(Type.String({ description: 's256 or plain' })),
  }),
  success: {
    status: 200,
    description:
      'The URL of the identity provider. Without skip_http_redirect, a redirect (303) to it',
  },
  async handle(call, services) {
    const { body } = call
    const isByScript = body.skip_http_redirect === true
    const { url, state, browserSecret } = await startSso(services, {
      ...body,
      challenge: parseChallenge(body.code_challenge, body.code_challenge_method),
      redirectTo: findRedirectTarget(call, services.redirects, body.redirect_to),
      audience: call.audience,
      keepsCookie: !isByScript && canKeepCookie(services),
    })
    if (isByScript) return json({ url })
    const cookie =
      browserSecret === undefined
        ? {}
        : { 'set-cookie': createStateCookie(services, state, browserSecret) }
    const response = redirect(url, 303)
    return { ...response, headers: { ...response.headers, ...cookie } }
  },
})

/**
 * The response arrives as a form from the site of the identity provider. Browsers send cookies with
 * such forms only if they are `SameSite=None`, which requires TLS; and only to the same host.
 */
function canKeepCookie({ config, serviceProvider }: Services): boolean {
  const here = new URL(config.api.externalUrl)
  const acs = URL.parse(serviceProvider?.acsUrl ?? '')
  return here.protocol === 'https:' && acs?.host === here.host
}

function createStateCookie(services: Services, state: string, secret: string): string {
  const lifetimeMs = secret === '' ? 0 : services.config.saml.relayStateMs
  return toCookie(toCookieName(services, state), secret, {
    maxAgeSeconds: Math.floor(lifetimeMs / 1_000),
    isSecure: true,
    sameSite: 'None',
  })
}

export const samlMetadata = defineEndpoint({
  method: 'GET',
  path: '/sso/saml/metadata',
  summary: 'Returns the SAML metadata of this server, for identity providers',
  allowed: 'anyone',
  requires,
  query: { download: 'true: return a file that is valid for five years' },
  success: { status: 200, description: 'An EntityDescriptor in XML' },
  async handle({ query }, services) {
    const serviceProvider = requireServiceProvider(services)
    const isDownload = query['download'] === 'true'
    // While the key changes, identity providers should soon read the metadata again.
    const seconds = serviceProvider.nextKey === undefined ? 600 : 60
    return {
      status: 200,
      xml: createMetadata(serviceProvider, isDownload ? inFiveYears(services) : undefined),
      headers: {
        'cache-control': `public, max-age=${seconds}`,
        ...(isDownload && { 'content-disposition': 'attachment; filename="metadata.xml"' }),
      },
    }
  },
})

function inFiveYears({ now }: Services): Date {
  const date = new Date(now())
  date.setUTCFullYear(date.getUTCFullYear() + 5)
  return date
}

export const samlAcs = defineEndpoint({
  method: 'POST',
  path: '/sso/saml/acs',
  summary: 'Handles the response of a SAML identity provider and redirects to the site',
  allowed: 'anyone',
  requires,
  limiter: 'saml',
  takesForms: true,
  success: {
    status: 302,
    description:
      'Redirect to the site, with tokens in the fragment or with the code of a PKCE flow. If it fails, a redirect (303) to SITE_URL with the error',
  },
  handle: async (call, services) => {
    try {
      return await handleResponse(call, services)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      const where = withQuery(services.redirects.siteUrl, toErrorParameters(error, 'server_error'))
      return { ...redirect(where, 303), failure: error }
    }
  },
})

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

async function handleResponse(call: Call, services: Services): Promise<Answer> {
  const { redirects } = services
  const { SAMLResponse: samlResponse = '', RelayState: relayState = '' } = toTexts(call.body)
  const { client, externalUrl, audience } = call
  if (uuid.test(relayState)) {
    const secret = readCookie(call.header('cookie'), toCookieName(services, relayState))
    const flow = await claimSso(services, relayState, secret)
    const redirectTo = flow.referrer
    const posted = { samlResponse, client, externalUrl, redirectTo, flow, audience: flow.aud }
    const result = await finishSso(services, posted)
    const response = redirect(toLocation(redirectTo, result), 302)
    const cookie =
      secret === undefined ? {} : { 'set-cookie': createStateCookie(services, relayState, '') }
    return { ...response, headers: { ...response.headers, ...cookie } }
  }
  if (relayState !== '' && URL.parse(relayState) === null) {
    throw invalid('SAML RelayState is not a valid UUID or URL')
  }
  // The identity provider started the sign-in and may name a page of the site.
  const verdict = redirects.judge(relayState)
  const redirectTo = verdict.isPermitted ? verdict.target : redirects.siteUrl
  const posted = { samlResponse, client, externalUrl, redirectTo, audience, flow: undefined }
  return redirect(toLocation(redirectTo, await finishSso(services, posted)), 302)
}

function toLocation(target: string, result: SsoResult): string {
  if (result.outcome === 'code') return withQuery(target, { code: result.code })
  const { tokens, provider } = result
  return withFragment(target, toTokenParameters(tokens, { provider }))
}

function toTexts(body: unknown): Readonly<Record<string, string | undefined>> {
  const entries = Object.entries(body ?? {})
  return Object.fromEntries(entries.filter(([, value]) => typeof value === 'string'))
}
