import { type ResolvedAddress, requestGuarded } from '../../../outgoing/guarded-fetch.ts'
import type { HttpLimits } from '../../../outgoing/http-client.ts'
import { defineOAuth2, type OAuth2Definition } from '../oauth/oauth2.ts'
import {
  type ExternalProvider,
  IdTokenError,
  type OpenId,
  type ProviderSetup,
} from '../oauth/provider.ts'
import { createProviderHttp, type JsonObject, type ProviderHttp } from '../oauth/provider-http.ts'
import { type AttributeRules, toCustomProfile } from './attributes.ts'
import { type Discovery, fetchDiscovery } from './discovery.ts'

/** A provider that an administrator has registered. */
export interface CustomProvider extends AttributeRules {
  /** `custom:acme`. */
  readonly identifier: string
  readonly client_id: string
  readonly acceptable_client_ids: readonly string[]
  readonly scopes: readonly string[]
  readonly pkce_enabled: boolean
  readonly authorization_params: Readonly<Record<string, string>>
  readonly email_optional: boolean
  readonly skip_nonce_check: boolean
  /** Null unless it is a provider of plain OAuth 2.0. */
  readonly authorization_url: string | null
  readonly token_url: string | null
  readonly userinfo_url: string | null
}

export interface CustomProvidersSettings {
  readonly redirectUri: string
  /** Whether all providers redirect to this URL; otherwise the identifier is appended. */
  readonly sharesCallback: boolean
  /** Hosts that may be in the internal network, and may be used without TLS. */
  readonly internalHosts: readonly string[]
  readonly limits: HttpLimits
  /** Creates the verifier of ID tokens, with its cache of keys. */
  readonly createOpenId: (http: ProviderHttp) => OpenId
  /** Default: DNS; for tests. */
  readonly resolve?: (host: string) => Promise<readonly ResolvedAddress[]>
}

export interface CustomProviders {
  /** @param discovery undefined for a provider of plain OAuth 2.0. */
  create(
    provider: CustomProvider,
    secret: string,
    discovery: Discovery | undefined,
  ): ExternalProvider
  /** The URL to which the provider redirects. */
  toRedirectUri(identifier: string): string
  /** @throws {DiscoveryError | OutgoingError} */
  discover(place: { readonly url: string; readonly issuer: string }): Promise<Discovery>
  /** Returns why a URL must not be used, as the end of a sentence. */
  findUrlFault(url: string): string | undefined
}

const longestUrl = 2_048

/** All requests go to checked addresses, because administrators may be less trusted than operators. */
export function createCustomProviders(settings: CustomProvidersSettings): CustomProviders {
  const { internalHosts, limits, resolve } = settings
  const http = createProviderHttp(limits, (url, init) => {
    const fault = findUrlFault(url)
    if (fault !== undefined) throw new TypeError(`The URL ${fault}`)
    return requestGuarded(url, init, { ...limits, internalHosts, ...(resolve && { resolve }) })
  })
  const openId = settings.createOpenId(http)

  function findUrlFault(text: string): string | undefined {
    const url = text.length <= longestUrl ? URL.parse(text) : null
    if (url === null) return `must be a URL of at most ${longestUrl} characters`
    const isInternal = internalHosts.includes(url.hostname)
    if (url.protocol !== 'https:' && !(isInternal && url.protocol === 'http:')) {
      return 'must use https'
    }
    if (url.username !== '' || url.password !== '') return 'must not contain credentials'
    return url.hash === '' ? undefined : 'must not have a fragment'
  }

  const toRedirectUri = (identifier: string): string =>
    settings.sharesCallback ? settings.redirectUri : `${settings.redirectUri}/${identifier}`

  return {
    findUrlFault,
    toRedirectUri,
    discover: (place) => fetchDiscovery(http, place, findUrlFault),
    create(provider, secret, discovery) {
      const { identifier: id, client_id, acceptable_client_ids: others } = provider
      const clientIds: ProviderSetup['clientIds'] = [client_id, ...others]
      const redirectUri = toRedirectUri(id)
      const at = { url: '', apiUrl: '', isPublic: false }
      const setup: ProviderSetup = { id, clientIds, secret, redirectUri, at, http, openId }
      const definition =
        discovery === undefined
          ? defineCustomOAuth2(provider)
          : defineCustomOidc(provider, discovery)
      return {
        ...defineOAuth2(definition).create(setup),
        id,
        clientIds,
        redirectUri,
        isEmailOptional: provider.email_optional,
      }
    },
  }
}

function defineCommon(provider: CustomProvider) {
  const { scopes, authorization_params: parameters, pkce_enabled: usesPkce } = provider
  return { scopes, parameters, usesPkce }
}

function defineCustomOAuth2(provider: CustomProvider): OAuth2Definition {
  const { authorization_url, token_url, userinfo_url } = provider
  return {
    ...defineCommon(provider),
    authorizeUrl: () => authorization_url ?? '',
    tokenUrl: () => token_url ?? '',
    async readProfile({ get }) {
      return toCustomProfile(await get(userinfo_url ?? ''), authorization_url ?? '', provider)
    },
  }
}

function defineCustomOidc(provider: CustomProvider, discovery: Discovery): OAuth2Definition {
  const { issuer, jwks_uri: keysUrl, userinfo_endpoint: userinfoUrl } = discovery
  return {
    ...defineCommon(provider),
    authorizeUrl: () => discovery.authorization_endpoint,
    tokenUrl: () => discovery.token_endpoint,
    usesNonce: !provider.skip_nonce_check,
    sendsIssuer: discovery.authorization_response_iss_parameter_supported ?? false,
    idTokens: {
      isIssuer: (name) => name === issuer,
      keysUrl,
      skipsNonce: provider.skip_nonce_check,
      toProfile: (claims) => toCustomProfile(claims, issuer, provider),
    },
    async readProfile({ get, verifyIdToken }) {
      const claims = await verifyIdToken()
      if (claims === undefined) throw new IdTokenError('The provider returned no ID token')
      const user: JsonObject = userinfoUrl === undefined ? {} : await get(userinfoUrl)
      // OpenID Connect Core, section 5.3.2: otherwise it could be the profile of another user.
      if (userinfoUrl !== undefined && user['sub'] !== claims['sub']) {
        throw new IdTokenError('The user info is that of another user')
      }
      // The signed claims win.
      return toCustomProfile({ ...user, ...claims }, issuer, provider)
    },
  }
}
