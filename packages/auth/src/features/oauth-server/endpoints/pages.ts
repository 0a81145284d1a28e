import { ApiError } from '../../../errors.ts'
import { type Answer, type Call, redirect } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import type { LimiterName } from '../../../limits/request-limits.ts'
import { readRecipients } from '../../../messages/requests/daily-codes.ts'
import type { Services } from '../../../services.ts'
import { listEnabledProviders } from '../../custom-providers/find-provider.ts'
import { requireOAuthServer } from '../../oauth-clients/clients.ts'
import { createPageSecret, findPageSecret, findVisitor } from '../pages/browser-session.ts'
import { toConsentPage, toMessagePage } from '../pages/content.ts'
import { type SignInMethods, toFactorPage, toSignInPage } from '../pages/sign-in-pages.ts'
import { canUseKeys, findNextStep, listOfferedFactors } from '../pages/visits.ts'
import {
  findStep,
  finishProvider,
  type PageCall,
  pageBody,
  readId,
  toAnswer,
} from './page-steps.ts'

const path = '/oauth/consent'

export const showConsentPage = defineEndpoint({
  method: 'GET',
  path,
  summary: 'The built-in page on which users sign in and decide about the request of a client',
  allowed: 'anyone',
  oauth: 'page',
  limiter: 'authorize',
  query: {
    authorization_id: 'The request of the client',
    code: 'The code of a sign-in with a provider',
    error: 'Present if a sign-in with a provider failed',
  },
  success: { status: 200, description: 'A page, or a redirect (303) to the client' },
  handle: (call, services) => orMessage(services, () => show(call, services)),
})

/** The limits are those of the endpoints that do the same for other sites. */
const limiters: Readonly<Record<string, LimiterName>> = {
  'send-code': 'otp',
  'email-code': 'verify',
  'passkey-start': 'passkey',
  provider: 'authorize',
}

export const submitConsentPage = defineEndpoint({
  method: 'POST',
  path,
  summary: 'Handles the forms of the built-in page',
  allowed: 'anyone',
  oauth: 'page',
  limiter: ({ step }) => (typeof step === 'string' ? limiters[step] : undefined) ?? 'token',
  sendsCodesTo: ({ body }) =>
    body.step === 'send-code' ? readRecipients({ email: body.email ?? '' }) : [],
  takesForms: true,
  query: { authorization_id: 'The request of the client' },
  body: pageBody,
  success: { status: 303, description: 'Redirect to the client, or back to the page' },
  handle: (call, services) => orMessage(services, () => submit(call, services)),
})

async function show(call: Call, services: Services): Promise<Answer> {
  requireBuiltInPage(services)
  const { code, error } = call.query
  // The texts of the provider are not shown, because anyone could write them into a link.
  const failure = error === undefined ? undefined : 'The sign-in with the provider failed.'
  if (code === undefined) return await showNext(call, services, failure)
  try {
    return await finishProvider(call, services)
  } catch (error) {
    if (!(error instanceof ApiError) || !isCorrectable(error)) throw error
    return { ...(await showNext(call, services, error.message)), failure: error }
  }
}

async function showNext(call: Call<unknown>, services: Services, alert?: string): Promise<Answer> {
  const cookie = call.header('cookie')
  const person = await findVisitor(services, cookie)
  const next = await findNextStep(services, readId(call), person, call.client.ip)
  switch (next.step) {
    case 'sign-in': {
      const methods = await listMethods(services)
      const answer = toAnswer(toSignInPage(services, next.request, methods, alert), alert)
      const isReady = methods.providers.length === 0 || findPageSecret(services, cookie)
      if (isReady) return answer
      return { ...answer, headers: { ...answer.headers, 'set-cookie': createPageSecret(services) } }
    }
    case 'factor': {
      const factors = listOfferedFactors(services, next.person)
      return toAnswer(toFactorPage(services, factors, alert), alert)
    }
    case 'consent':
      return toAnswer(toConsentPage(services, next.request, next.person), alert)
    case 'redirect':
      return redirect(next.location)
  }
}

async function listMethods(services: Services): Promise<SignInMethods> {
  const { config, providers } = services
  const { emailEnabled, magicLinkEnabled } = config.site
  // With this setting, providers send the browser to a page of the site instead of this one.
  const canReturn = config.externalFlow.redirectUrl === ''
  const registered = canReturn ? await listEnabledProviders(services) : []
  const custom = registered.map(({ identifier: id, settings }) => ({ id, name: settings.name }))
  return {
    password: emailEnabled,
    emailCode: emailEnabled && magicLinkEnabled,
    passkey: config.passkeys.enabled && canUseKeys(config),
    providers: [
      ...(canReturn ? providers.enabled.map(({ id }) => ({ id, name: toName(id) })) : []),
      ...custom,
    ],
  }
}

/** `linkedin_oidc` becomes `Linkedin`. */
function toName(id: string): string {
  const name = id.replace(/_oidc$/, '').replaceAll('_', ' ')
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}`
}

async function submit(call: PageCall, services: Services): Promise<Answer> {
  requireBuiltInPage(services)
  // Only our own page may post this form. Pages of other origins cannot forge the Origin header.
  if (call.header('origin') !== new URL(services.config.api.externalUrl).origin) {
    throw new ApiError('oauth_authorization_not_found', 'The form was sent by another site')
  }
  const step = findStep(call)
  try {
    return await step.run(call, services)
  } catch (error) {
    if (!(error instanceof ApiError) || !isCorrectable(error)) throw error
    const page = await step.retry?.(call, services, error.message)
    const answer = page
      ? toAnswer(page, error.message)
      : await showNext(call, services, error.message)
    return { ...answer, failure: error }
  }
}

/** @throws {ApiError} */
function requireBuiltInPage(services: Services): void {
  requireOAuthServer(services)
  if (services.config.oauthServer.authorizationPath === '') return
  throw new ApiError('feature_disabled', 'The consent page is that of the site')
}

/** Whether the user can correct the form and send it again. */
function isCorrectable({ status, code }: ApiError): boolean {
  return status < 500 && code !== 'oauth_authorization_not_found'
}

/** A browser shows a page for errors that the user cannot correct. */
async function orMessage(services: Services, handle: () => Promise<Answer>): Promise<Answer> {
  try {
    return await handle()
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'oauth_authorization_not_found') throw error
    const message = 'Go back to the application that sent you here, and start again.'
    const page = toMessagePage(services, 'This request is not valid any more', message)
    return { status: error.status, html: page.html, headers: page.headers, failure: error }
  }
}
