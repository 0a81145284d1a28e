import { ApiError, type ErrorCode } from '../../errors.ts'
import { defineEndpoint, type Endpoint } from '../../http/endpoint.ts'

type Route = Pick<Endpoint, 'method' | 'path'>

/**
 * Features that today's client knows and this server does not have. They answer as a server does
 * that has them switched off, which the client can tell from a wrong address.
 */
function close(
  code: ErrorCode,
  message: string,
  summary: string,
  ...routes: readonly Route[]
): readonly Endpoint[] {
  return routes.map((route) =>
    defineEndpoint({
      ...route,
      summary,
      allowed: 'anyone',
      success: { status: 404, description: `Never: ${message}` },
      handle() {
        return Promise.reject(new ApiError(code, message, { status: 404 }))
      },
    }),
  )
}

const saml = close(
  'saml_provider_disabled',
  'SAML 2.0 is disabled',
  'Single sign-on with SAML, which is not part of this server',
  { method: 'POST', path: '/sso' },
  { method: 'GET', path: '/sso/saml/metadata' },
  { method: 'POST', path: '/sso/saml/acs' },
  { method: 'GET', path: '/admin/sso/providers' },
  { method: 'POST', path: '/admin/sso/providers' },
)

const oauthServer = close(
  'feature_disabled',
  'OAuth server is disabled',
  'This server as a provider for other sites, which it is not',
  { method: 'GET', path: '/oauth/authorize' },
  { method: 'GET', path: '/oauth/authorizations/:authorization_id' },
  { method: 'POST', path: '/oauth/authorizations/:authorization_id/consent' },
  { method: 'GET', path: '/user/oauth/grants' },
  { method: 'DELETE', path: '/user/oauth/grants' },
  { method: 'GET', path: '/admin/oauth/clients' },
  { method: 'POST', path: '/admin/oauth/clients' },
)

const customProviders = close(
  'feature_disabled',
  'Custom OAuth providers are disabled',
  'Providers that an administrator describes, which are not part of this server',
  { method: 'GET', path: '/admin/custom-providers' },
  { method: 'POST', path: '/admin/custom-providers' },
)

export const closedFeatures: readonly Endpoint[] = [...saml, ...oauthServer, ...customProviders]
