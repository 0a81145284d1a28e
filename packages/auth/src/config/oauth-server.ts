import type { Check } from '@portcullis/service-kit/settings/config-check'
import {
  boolean,
  type Chapter,
  duration,
  list,
  type Settings,
  string,
} from '@portcullis/service-kit/settings/env'
import { checkDuration, checkWebUrl, oneHour } from './checks.ts'
import { unlessBlank, withOldNames } from './variables.ts'

export const oauthServer = {
  title: 'OAuth server',
  variables: withOldNames({
    enabled: boolean(
      'AUTH_OAUTH_SERVER_ENABLED',
      false,
      'Whether other applications can sign users in with this server (OAuth 2.1, OpenID Connect)',
    ),
    allowDynamicRegistration: boolean(
      'AUTH_OAUTH_SERVER_ALLOW_DYNAMIC_REGISTRATION',
      false,
      'Whether clients can register themselves (/oauth/clients/register), as MCP clients do',
    ),
    allowClientDocuments: boolean(
      'AUTH_OAUTH_SERVER_ALLOW_CLIENT_ID_METADATA',
      false,
      'Whether the client_id can be the https URL of a document that describes the client, as with MCP clients',
    ),
    authorizationPath: string(
      'AUTH_OAUTH_SERVER_AUTHORIZATION_PATH',
      '',
      'Path below AUTH_SITE_URL of your own consent page, such as /oauth/consent; it gets the parameter authorization_id',
      { defaultText: 'the built-in page' },
    ),
    authorizationTtlMs: duration(
      'AUTH_OAUTH_SERVER_AUTHORIZATION_TTL',
      '10m',
      'How long a user can take to sign in and to decide about a request of a client',
    ),
    defaultScope: unlessBlank(
      string(
        'AUTH_OAUTH_SERVER_DEFAULT_SCOPE',
        'email',
        'Scopes of a request that names none, separated by spaces',
      ),
    ),
    scopes: list(
      'AUTH_OAUTH_SERVER_SCOPES',
      [],
      'Scopes of your own APIs that clients may request, in addition to openid, profile, email, phone and offline_access',
    ),
    resources: list(
      'AUTH_OAUTH_SERVER_RESOURCES',
      [],
      'The only values of the parameter resource, which is the audience of the access token',
      { defaultText: 'any https URL, and http for loopback addresses' },
    ),
    requiresProofNonces: boolean(
      'AUTH_OAUTH_SERVER_DPOP_NONCES',
      false,
      'Whether DPoP proofs must contain a nonce of this server, so that they cannot be created in advance',
    ),
    pageName: string(
      'AUTH_OAUTH_SERVER_PAGE_NAME',
      '',
      'Name of your service on the built-in pages',
      { defaultText: 'the host of AUTH_SITE_URL' },
    ),
    pageStylesheet: string(
      'AUTH_OAUTH_SERVER_PAGE_STYLESHEET',
      '',
      'URL of a stylesheet that the built-in pages load after their own',
    ),
  }),
} satisfies Chapter

export type OAuthServerConfig = Settings<typeof oauthServer.variables>

/** The characters of a scope (RFC 6749, section 3.3). */
const scopePattern = /^[\x21\x23-\x5b\x5d-\x7e]+$/

/**
 * The issuer in the tokens and the metadata of the OAuth server. Clients compare the two.
 */
export function toIssuer(config: {
  readonly tokens: { readonly issuer: string | undefined }
  readonly api: { readonly externalUrl: string }
}): string {
  return config.tokens.issuer ?? config.api.externalUrl
}

interface Addresses {
  readonly site: { readonly url: string }
  readonly api: { readonly externalUrl: string }
  readonly oauthServer: { readonly authorizationPath: string }
}

/** The page on which users decide about requests: the operator's, or the built-in one. */
export function toConsentUrl(config: Addresses): string {
  const { authorizationPath: path } = config.oauthServer
  if (path === '') return toBuiltInUrl(config)
  return `${config.site.url.replace(/\/+$/, '')}/${path.replace(/^\/+/, '')}`
}

export function toBuiltInUrl({ api }: Pick<Addresses, 'api'>): string {
  return `${api.externalUrl}/oauth/consent`
}

/** The page on which users type in the code that a device shows. */
export function toDeviceUrl({ api }: Pick<Addresses, 'api'>): string {
  return `${api.externalUrl}/oauth/device`
}

/** What the OAuth server depends on in other chapters. */
export interface OAuthServerNeeds {
  /** Whether tokens are signed with a key that clients can verify. */
  readonly hasPublicKey: boolean
  readonly hasCaptcha: boolean
}

export function toOAuthServer(
  settings: OAuthServerConfig,
  { hasPublicKey, hasCaptcha }: OAuthServerNeeds,
  check: Check,
): OAuthServerConfig {
  const { variables } = oauthServer
  checkDuration(variables.authorizationTtlMs, settings.authorizationTtlMs, oneHour, check)
  checkWebUrl(variables.pageStylesheet, settings.pageStylesheet, check)
  if (settings.scopes.some((scope) => !scopePattern.test(scope))) {
    check.fault(variables.scopes, 'must contain only scopes without spaces, quotes and backslashes')
  }
  if (settings.resources.some((resource) => !URL.canParse(resource))) {
    check.fault(variables.resources, 'must contain only absolute URLs, such as https://api.example')
  }
  if (!settings.enabled) return settings
  if (hasCaptcha && settings.authorizationPath === '') {
    check.fault(
      variables.authorizationPath,
      'is required if a CAPTCHA is configured, because the built-in page cannot show one',
    )
  }
  if (!hasPublicKey) {
    check.note(
      `${check.nameOf(variables.enabled)} is true, but tokens are signed with AUTH_JWT_SECRET: clients cannot ` +
        'verify them, and the scope openid is refused. Set AUTH_JWT_KEYS to a key that signs with ES256, RS256 or EdDSA',
    )
  }
  return settings
}
