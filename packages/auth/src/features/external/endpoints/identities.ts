import { ApiError, invalid } from '../../../errors.ts'
import { type Answer, type Call, json, redirect } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import type { Services } from '../../../services.ts'
import { findProvider } from '../../custom-providers/find-provider.ts'
import { toErrorParameters, withFragment, withQuery } from '../../redirects/redirect-location.ts'
import { uuidPattern } from '../../sessions/bearer.ts'
import { checkManualLinking, requireLinker, unlinkIdentity } from '../identities.ts'
import { agree, cancel, openConfirmation } from '../linking-confirmation.ts'
import {
  createCookie,
  dropCookie,
  externalQuery,
  readCookie,
  startRequest,
  toCookieName,
} from './authorize.ts'

export const linkUserIdentity = defineEndpoint({
  method: 'GET',
  path: '/user/identities/authorize',
  summary: 'Redirects the signed-in user to a provider to link an identity',
  allowed: 'user',
  limiter: 'authorize',
  query: {
    ...externalQuery,
    skip_http_redirect: 'true: return the URL instead of redirecting to it',
  },
  success: {
    status: 200,
    description:
      'The URL of the provider or, without PKCE, of a confirmation page. Without skip_http_redirect, a redirect (302) to the provider',
  },
  async handle(call, services) {
    const { caller } = call
    requireLinker(services, caller)
    const isByScript = call.query['skip_http_redirect'] === 'true'
    const { url, ...response } = await startRequest(call, services, {
      linking: { userId: caller.id, sessionId: caller.session_id },
      isByScript,
    })
    if (!isByScript) return response
    const { location: _, ...headers } = response.headers
    return json({ url }, headers)
  },
})

export const unlinkUserIdentity = defineEndpoint({
  method: 'DELETE',
  path: '/user/identities/:identity_id',
  summary: 'Unlinks an identity from the signed-in user, who must have another one',
  allowed: 'user',
  success: { status: 200, description: 'An empty object' },
  async handle({ caller, params, client, audience }, services) {
    checkManualLinking(services)
    const { identity_id: id = '' } = params
    if (!uuidPattern.test(id)) throw invalid('identity_id must be an UUID', { status: 404 })
    if (caller.aud !== audience) {
      const message = "Token audience doesn't match request audience"
      throw new ApiError('unexpected_audience', message)
    }
    await unlinkIdentity(services, caller, id, client)
    return json({})
  },
})

const path = '/user/identities/confirm'

/** The page for a browser whose script started to link an identity without PKCE. */
export const confirmLinking = defineEndpoint({
  method: 'GET',
  path,
  summary: 'Asks the user to confirm that they started to link an identity',
  allowed: 'anyone',
  limiter: 'callback',
  query: { state: 'The state from the URL' },
  success: {
    status: 200,
    description:
      'A page, or a redirect (302) to the provider if this browser is known to have started the flow',
  },
  handle: (call, services) => orRedirectToSite(services, () => open(call, services)),
})

/** Handles the buttons of the confirmation page. */
export const decideLinking = defineEndpoint({
  method: 'POST',
  path,
  summary: 'Handles the confirmation page: continues to the provider or returns to the site',
  allowed: 'anyone',
  limiter: 'callback',
  takesForms: true,
  success: {
    status: 303,
    description: 'Redirect to the provider, or to the site if the user cancels',
  },
  handle: (call, services) => orRedirectToSite(services, () => decide(call, services)),
})

async function open(call: Call, services: Services): Promise<Answer> {
  const { state = '' } = call.query
  const visit = { state, browserSecret: readSecret(call, services, state) }
  const opened = await openConfirmation(services, visit)
  const { linking_step: step, provider_type: provider, provider_url: url } = opened
  if (step !== 'asked') return redirect(url, 302)
  const page = createLinkingPage({
    provider,
    account: opened.email ?? (opened.phone === null ? undefined : `+${opened.phone}`),
    site: new URL(services.redirects.siteUrl).host,
    state,
  })
  const { newSecret } = opened
  if (newSecret === undefined) return page
  const cookie = createCookie(services, await findProvider(services, provider), state, newSecret)
  return { ...page, headers: { ...page.headers, 'set-cookie': cookie } }
}

async function decide(call: Call, services: Services): Promise<Answer> {
  const { state, choice } = readForm(call.body)
  // Only our own page may post this form. Pages of other origins cannot forge the Origin header.
  if (call.header('origin') !== new URL(services.config.api.externalUrl).origin) {
    throw new ApiError('bad_oauth_state', 'OAuth state not found or expired')
  }
  const visit = { state, browserSecret: readSecret(call, services, state) }
  if (choice === 'link') return redirect(await agree(services, visit))
  const referrer = await cancel(services, visit)
  const denied = { error: 'access_denied', error_description: 'The user cancelled' }
  const target = services.config.externalFlow.redirectUrl || referrer
  const response = redirect(withFragment(withQuery(target, denied), denied))
  return {
    ...response,
    headers: { ...response.headers, 'set-cookie': dropCookie(services, state) },
  }
}

function readForm(body: unknown): { readonly state: string; readonly choice: string } {
  const texts = Object.entries(body ?? {}).filter(([, value]) => typeof value === 'string')
  const { state = '', choice = '' } = Object.fromEntries(texts)
  return { state, choice }
}

function readSecret(call: Call, services: Services, state: string): string | undefined {
  return readCookie(call.header('cookie'), toCookieName(services, state))
}

/** A browser cannot handle an error response, so errors redirect to the site. */
async function orRedirectToSite(
  services: Services,
  handle: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await handle()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const where = withQuery(services.redirects.siteUrl, toErrorParameters(error, 'server_error'))
    return { ...redirect(where), failure: error }
  }
}

interface LinkingPage {
  readonly provider: string
  /**
   * The address or phone number of the user who gets the identity; undefined for an anonymous user.
   */
  readonly account: string | undefined
  /** The host of the site. */
  readonly site: string
  readonly state: string
}

const style = `:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}
body{max-width:32rem;margin:10vh auto;padding:0 1rem}
strong{overflow-wrap:anywhere}
button{font:inherit;padding:.5rem 1rem;margin:0 .5rem .5rem 0}`

/** The page loads nothing, runs no scripts and cannot be framed. */
const policy = [
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/**
 * Asks whether the user of this browser started to link an identity, and names the account. An
 * attacker may have sent the user the URL, in order to link the user's identity to the attacker's
 * account.
 */
function createLinkingPage(page: LinkingPage): Answer {
  const provider = escapeHtml(page.provider.charAt(0).toUpperCase() + page.provider.slice(1))
  const site = escapeHtml(page.site)
  const account =
    page.account === undefined
      ? 'a guest account'
      : `the account <strong>${escapeHtml(page.account)}</strong>`
  return {
    status: 200,
    html: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Link ${provider} · ${site}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>Link ${provider}?</h1>
<p>Your ${provider} account will be linked to ${account} at <strong>${site}</strong>. From then on,
signing in with ${provider} opens that account.</p>
<p>Continue only if this is your account and you have just asked for this yourself. If someone sent you
here, cancel.</p>
<form method="post">
<input type="hidden" name="state" value="${escapeHtml(page.state)}">
<button name="choice" value="link">Continue to ${provider}</button>
<button name="choice" value="cancel">Cancel</button>
</form>
</main>
</body>
</html>
`,
    headers: {
      'content-security-policy': policy,
      'x-frame-options': 'DENY',
      // With no-referrer, browsers would send `Origin: null` with the form.
      'referrer-policy': 'same-origin',
    },
  }
}

function escapeHtml(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  }
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character)
}
