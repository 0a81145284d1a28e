import { toConsentUrl } from '../../../config/oauth-server.ts'
import { type Answer, json, redirect } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { Type } from '../../../http/schema.ts'
import { requireOAuthServer } from '../../oauth-clients/clients.ts'
import { withQuery } from '../../redirects/redirect-location.ts'
import { findDeviceRequest, requestDevice } from '../grants/device-code.ts'
import { toDevicePage, toMessagePage } from '../pages/content.ts'
import type { Page } from '../pages/layout.ts'
import { authenticateCall, credentialFields, text, toParameters } from './client-call.ts'

export const authorizeDevice = defineEndpoint({
  method: 'POST',
  path: '/oauth/device_authorization',
  summary: 'Starts the sign-in on a device without a browser (RFC 8628)',
  allowed: 'anyone',
  credential: 'client',
  oauth: 'api',
  limiter: 'token',
  takesForms: true,
  body: Type.Object({
    ...credentialFields,
    scope: text('Scopes separated by spaces'),
    resource: text('The API that the access token is for'),
  }),
  success: { status: 200, description: 'The code and the address that the device shows' },
  async handle(call, services) {
    const client = await authenticateCall(call, services)
    return json(await requestDevice(services, client, toParameters(call.body)))
  },
})

const path = '/oauth/device'

export const showDevicePage = defineEndpoint({
  method: 'GET',
  path,
  summary: 'The page on which users type in the code that a device shows',
  allowed: 'anyone',
  oauth: 'page',
  query: { user_code: 'The code, if the link has it' },
  success: { status: 200, description: 'A page' },
  async handle({ query }, services) {
    requireOAuthServer(services)
    const { done, user_code: userCode = '' } = query
    if (done === 'approved') {
      const message = 'Your device will continue in a moment. You can close this page.'
      return toAnswer(toMessagePage(services, 'Access granted', message))
    }
    if (done === 'denied') {
      return toAnswer(toMessagePage(services, 'Access refused', 'You can close this page.'))
    }
    return toAnswer(toDevicePage(services, userCode, undefined))
  },
})

export const submitDevicePage = defineEndpoint({
  method: 'POST',
  path,
  summary: 'Handles the form of that page, and redirects to the consent page',
  allowed: 'anyone',
  oauth: 'page',
  limiter: 'verify',
  takesForms: true,
  body: Type.Object({ user_code: text('The code that the device shows') }),
  success: { status: 303, description: 'Redirect to the consent page' },
  async handle({ body }, services) {
    requireOAuthServer(services)
    const { user_code: userCode = '' } = body
    const id = await findDeviceRequest(services, userCode)
    if (id !== undefined) {
      return redirect(withQuery(toConsentUrl(services.config), { authorization_id: id }))
    }
    const alert = 'No device shows this code now. Compare the code, or start again on the device.'
    return { ...toAnswer(toDevicePage(services, userCode, alert)), status: 400 }
  },
})

function toAnswer({ html, headers }: Page): Answer {
  return { status: 200, html, headers }
}
