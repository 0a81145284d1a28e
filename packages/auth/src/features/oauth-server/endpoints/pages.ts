import { ApiError } from '../../../errors.ts'
import { type Answer, type Call, redirect } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { type Static, Type } from '../../../http/schema.ts'
import type { Services } from '../../../services.ts'
import { requireOAuthServer } from '../../oauth-clients/enabled.ts'
import { withQuery } from '../../redirects/redirect-location.ts'
import { readSessionId, readToken } from '../../sessions/bearer.ts'
import { signInByPassword } from '../../sign-in/password-sign-in.ts'
import { decideAuthorization, getPending, refuse } from '../authorizations.ts'
import { createSessionCookie, dropSessionCookie, findVisitor } from '../pages/browser-session.ts'
import { toConsentPage, toFactorPage, toMessagePage, toSignInPage } from '../pages/content.ts'
import type { Page } from '../pages/layout.ts'
import { toBuiltInUrl } from '../pages/page-urls.ts'
import { findNextStep, leave, proveFactor } from '../pages/visits.ts'

const path = '/oauth/consent'
const query = { authorization_id: 'The request of the client' }

export const showConsentPage = defineEndpoint({
  method: 'GET',
  path,
  summary: 'The built-in page on which users sign in and decide about the request of a client',
  allowed: 'anyone',
  oauth: 'page',
  limiter: 'authorize',
  query,
  success: { status: 200, description: 'A page, or a redirect (303) to the client' },
  handle: (call, services) => orMessage(services, () => show(call, services)),
})

const body = Type.Object({
  step: Type.Optional(Type.String({ description: 'sign-in, factor, approve, deny or sign-out' })),
  email: Type.Optional(Type.String()),
  password: Type.Optional(Type.String()),
  code: Type.Optional(Type.String({ description: 'The code of a second factor' })),
})
type PageCall = Call<Static<typeof body>>

export const submitConsentPage = defineEndpoint({
  method: 'POST',
  path,
  summary: 'Handles the forms of the built-in page',
  allowed: 'anyone',
  oauth: 'page',
  limiter: 'token',
  takesForms: true,
  query,
  body,
  success: { status: 303, description: 'Redirect to the client, or back to the page' },
  handle: (call, services) => orMessage(services, () => submit(call, services)),
})

async function show(call: Call, services: Services, alert?: string): Promise<Answer> {
  requireBuiltInPage(services)
  const id = readId(call)
  const person = await findVisitor(services, call.header('cookie'))
  const next = await findNextStep(services, id, person, call.client.ip)
  switch (next.step) {
    case 'sign-in':
      return toAnswer(toSignInPage(services, next.request, alert), alert)
    case 'factor':
      return toAnswer(toFactorPage(services, next.isPossible, alert), alert)
    case 'consent':
      return toAnswer(toConsentPage(services, next.request, next.person), alert)
    case 'redirect':
      return redirect(next.location)
  }
}

async function submit(call: PageCall, services: Services): Promise<Answer> {
  requireBuiltInPage(services)
  // Only our own page may post this form. Pages of other origins cannot forge the Origin header.
  if (call.header('origin') !== new URL(services.config.api.externalUrl).origin) {
    throw new ApiError('oauth_authorization_not_found', 'The form was sent by another site')
  }
  const { step = '' } = call.body
  const handle = Object.hasOwn(steps, step) ? steps[step] : undefined
  if (handle === undefined) throw new ApiError('validation_failed', 'The form has no such step')
  try {
    return await handle(call, services)
  } catch (error) {
    if (!(error instanceof ApiError) || !isCorrectable(error)) throw error
    return { ...(await show(call, services, error.message)), failure: error }
  }
}

type Step = (call: PageCall, services: Services) => Promise<Answer>

const steps: Readonly<Record<string, Step>> = {
  async 'sign-in'(call, services) {
    const { email = '', password = '' } = call.body
    const { audience, client } = call
    const tokens = await signInByPassword(services, {
      ...{ email, password, audience, client },
      phone: '',
    })
    const { access_token: accessToken } = Object(tokens)
    const claims = readToken(`${accessToken}`, services.signer, services.now())
    const cookie = createSessionCookie(services, `${claims['sub']}`, readSessionId(claims) ?? '')
    return backToPage(call, services, cookie)
  },

  async factor(call, services) {
    const person = await findVisitor(services, call.header('cookie'))
    if (person !== undefined) {
      await proveFactor(services, person, call.body.code ?? '', call.client)
    }
    return backToPage(call, services)
  },

  approve: (call, services) => decide(call, services, true),

  async deny(call, services) {
    const person = await findVisitor(services, call.header('cookie'))
    if (person !== undefined) return await decide(call, services, false)
    const request = await getPending(services, readId(call))
    return redirect(await refuse(services, request, 'access_denied', 'User denied the request'))
  },

  async 'sign-out'(call, services) {
    const person = await findVisitor(services, call.header('cookie'))
    if (person !== undefined) await leave(services, person, call.client.ip)
    return backToPage(call, services, dropSessionCookie(services))
  },
}

async function decide(call: PageCall, services: Services, isApproved: boolean): Promise<Answer> {
  const person = await findVisitor(services, call.header('cookie'))
  if (person === undefined) return backToPage(call, services)
  const decider = { person, ip: call.client.ip }
  return redirect(await decideAuthorization(services, readId(call), decider, isApproved))
}

/** A redirect, so that reloading the page does not send the form again. */
function backToPage(call: PageCall, services: Services, cookie?: string): Answer {
  const location = withQuery(toBuiltInUrl(services), { authorization_id: readId(call) })
  const response = redirect(location)
  if (cookie === undefined) return response
  return { ...response, headers: { ...response.headers, 'set-cookie': cookie } }
}

function readId({ query }: Call): string {
  return query['authorization_id'] ?? ''
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

function toAnswer(page: Page, alert: string | undefined): Answer {
  return { status: alert === undefined ? 200 : 400, html: page.html, headers: page.headers }
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
