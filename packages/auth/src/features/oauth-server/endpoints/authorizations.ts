import { invalid } from '../../../errors.ts'
import { type Call, json } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { Type } from '../../../http/schema.ts'
import type { Services } from '../../../services.ts'
import { requireOAuthServer } from '../../oauth-clients/enabled.ts'
import { decideAuthorization, openAuthorization } from '../authorizations.ts'

const path = '/oauth/authorizations/:authorization_id'

export const getAuthorization = defineEndpoint({
  method: 'GET',
  path,
  summary: 'Returns the request of an OAuth client, for a consent page',
  allowed: 'user',
  success: {
    status: 200,
    description:
      'The client, the user and the scopes; or only redirect_url, if the user has granted this before',
  },
  async handle({ caller, params, client, header }, services) {
    requireOAuthServer(services)
    checkOrigin(header('origin'), services)
    const id = params['authorization_id'] ?? ''
    const opened = await openAuthorization(services, id, { person: caller, ip: client.ip })
    if (opened.step === 'redirect') return json({ redirect_url: opened.location })
    const { request } = opened
    const { client_name: name, client_uri: uri, logo_uri } = request
    return json({
      authorization_id: id,
      redirect_uri: request.redirect_uri,
      client: {
        id: request.metadata_url ?? request.client_id,
        ...(name !== '' && { name }),
        ...(uri !== '' && { uri }),
        ...(logo_uri !== '' && { logo_uri }),
      },
      user: { id: caller.id, email: caller.email ?? '' },
      scope: request.scope,
      ...(request.user_code !== null && { user_code: request.user_code }),
      ...(request.resource !== '' && { resource: request.resource }),
    })
  },
})

export const decideConsent = defineEndpoint({
  method: 'POST',
  path: `${path}/consent`,
  summary: 'Grants or refuses the request of an OAuth client',
  allowed: 'user',
  body: Type.Object({
    action: Type.Optional(Type.String({ description: 'approve or deny' })),
  }),
  success: { status: 200, description: 'redirect_url, where the browser continues' },
  async handle({ caller, params, client, header, body }, services) {
    requireOAuthServer(services)
    checkOrigin(header('origin'), services)
    const { action } = body
    if (action !== 'approve' && action !== 'deny') {
      throw invalid("action must be 'approve' or 'deny'")
    }
    const id = params['authorization_id'] ?? ''
    const decider = { person: caller, ip: client.ip }
    const location = await decideAuthorization(services, id, decider, action === 'approve')
    return json({ redirect_url: location })
  },
})

/** Programs send no origin. A page must be one that this server redirects to. @throws {ApiError} */
function checkOrigin(origin: ReturnType<Call['header']>, { redirects }: Services): void {
  if (origin === undefined || redirects.judge(origin).isPermitted) return
  throw invalid('unauthorized request origin')
}
