import { ApiError } from '../../../errors.ts'
import { type Answer, type Call, redirect } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import type { Services } from '../../../services.ts'
import { toErrorParameters, withFragment, withQuery } from '../../redirects/redirect-location.ts'
import { agree, cancel, openConfirmation } from '../linking-confirmation.ts'
import { readCookie } from './cookies.ts'
import { createCookie, dropCookie, toCookieName } from './external-request.ts'
import { createLinkingPage } from './linking-page.ts'

const path = '/user/identities/confirm'

/** Where a browser goes that has asked by a script to link an identity, without PKCE. */
export const confirmLinking = defineEndpoint({
  method: 'GET',
  path,
  summary: 'Asks whoever has the URL of a link request whether they have started it',
  allowed: 'anyone',
  limiter: 'callback',
  query: { state: 'That of the URL' },
  success: {
    status: 200,
    description: 'A page; 302 to the provider where the browser is known to have asked',
  },
  handle: (call, services) => orGoHome(services, () => open(call, services)),
})

/** The buttons of that page. */
export const decideLinking = defineEndpoint({
  method: 'POST',
  path,
  summary: 'The answer to the page: goes on to the provider, or back to the site',
  allowed: 'anyone',
  limiter: 'callback',
  takesForms: true,
  success: { status: 303, description: 'To the provider; where the user cancels, to the site' },
  handle: (call, services) => orGoHome(services, () => decide(call, services)),
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
  const cookie = createCookie(services, services.providers.find(provider), state, newSecret)
  return { ...page, headers: { ...page.headers, 'set-cookie': cookie } }
}

async function decide(call: Call, services: Services): Promise<Answer> {
  const { state, choice } = readForm(call.body)
  // Only the page itself can answer: pages of other origins cannot change this header.
  if (call.header('origin') !== new URL(services.config.api.externalUrl).origin) {
    throw new ApiError('bad_oauth_state', 'OAuth state not found or expired')
  }
  const visit = { state, browserSecret: readSecret(call, services, state) }
  if (choice === 'link') return redirect(await agree(services, visit))
  const referrer = await cancel(services, visit)
  const denied = { error: 'access_denied', error_description: 'The user cancelled' }
  const target = services.config.externalFlow.redirectUrl || referrer
  const answer = redirect(withFragment(withQuery(target, denied), denied))
  return {
    ...answer,
    headers: { ...answer.headers, 'set-cookie': dropCookie(services, state) },
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

/** A browser cannot read an error: it ends up at the site. */
async function orGoHome(services: Services, handle: () => Promise<Answer>): Promise<Answer> {
  try {
    return await handle()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const where = withQuery(services.redirects.siteUrl, toErrorParameters(error, 'server_error'))
    return { ...redirect(where), failure: error }
  }
}
