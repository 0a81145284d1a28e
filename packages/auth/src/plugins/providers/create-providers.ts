import { invalid } from '../../errors.ts'
import { type AllowedIssuersSettings, createAllowedIssuers } from './allowed-issuers.ts'
import { isProviderId, type ProviderId, providerIds, providers } from './index.ts'
import type { OpenIdSettings } from './oauth/oidc.ts'
import type {
  Addresses,
  ExternalProvider,
  ExternalProviders,
  OpenId,
  ProviderDefinition,
  ProviderSetup,
} from './oauth/provider.ts'
import { createProviderHttp } from './oauth/provider-http.ts'
import type { ExternalConfig, ProviderConfig } from './settings.ts'

export interface ProvidersSettings {
  readonly config: ExternalConfig
  /** Also accepted as the audience of Apple's ID tokens. Empty when not configured. */
  readonly iosBundleId: string
  /** Issuers of ID tokens that are not providers, and the audiences of their tokens. */
  readonly allowedIssuers?: Omit<AllowedIssuersSettings, 'openId'>
  readonly timeoutMs: number
  readonly now: () => number
}

const maxBytes = 1_000_000

/** The providers with this installation's registration. Each is created on first use. */
export function createProviders(settings: ProvidersSettings): ExternalProviders {
  const { config, timeoutMs, now } = settings
  const http = createProviderHttp({ timeoutMs, maxBytes })
  const openId = createOpenIdLater({ http, now })
  const made = new Map<ProviderId, ExternalProvider>()

  function make(id: ProviderId, definition: ProviderDefinition): ExternalProvider {
    const registered = config[id]
    const [clientId, ...others] = registered.clientIds
    if (clientId === undefined) throw unsupported('missing OAuth client ID')
    if (registered.secret === '') throw unsupported('missing OAuth secret')
    if (registered.redirectUri === '') throw unsupported('missing redirect URI')
    const hasApp = definition.hasIosApps && settings.iosBundleId !== ''
    const appIds = hasApp ? [settings.iosBundleId] : []
    const setup: ProviderSetup = {
      id,
      clientIds: [clientId, ...others, ...appIds],
      secret: registered.secret,
      redirectUri: registered.redirectUri,
      at: toAddresses(definition, registered),
      http,
      openId,
    }
    const steps = definition.create(setup)
    const idTokens = steps.idTokens && {
      ...steps.idTokens,
      skipsNonce: steps.idTokens.skipsNonce || registered.skipsNonce,
    }
    return {
      ...steps,
      idTokens,
      id,
      clientIds: setup.clientIds,
      redirectUri: setup.redirectUri,
      isEmailOptional: registered.isEmailOptional,
    }
  }

  function find(text: string): ExternalProvider {
    const id = text.toLowerCase()
    if (!isProviderId(id)) {
      throw unsupported(`Provider ${text.slice(0, 100)} could not be found`)
    }
    if (!config[id].enabled) throw unsupported('provider is not enabled')
    const provider = made.get(id) ?? make(id, providers[id])
    made.set(id, provider)
    return provider
  }

  const { allowedIssuers = { issuers: [], clientIds: [] } } = settings
  return {
    ...createAllowedIssuers({ ...allowedIssuers, openId }),
    find,
    isEnabled(text) {
      const id = text.toLowerCase()
      return isProviderId(id) && config[id].enabled
    },
    findIssuer(text, shown = '') {
      const id = text.toLowerCase()
      if (!isProviderId(id)) return undefined
      const definition: ProviderDefinition = providers[id]
      const at = toAddresses(definition, config[id])
      if (definition.idTokens === undefined) return undefined
      return definition.idTokens.isIssuer(shown, at) ? shown : at.url
    },
    get enabled() {
      return providerIds.filter((id) => config[id].enabled).map(find)
    },
  }
}

function unsupported(detail: string) {
  return invalid(`Unsupported provider: ${detail}`)
}

function toAddresses(definition: ProviderDefinition, config: ProviderConfig): Addresses {
  const { toApiUrl = (url: string) => url } = definition
  const isPublic = config.url === ''
  const url = withoutSlash(isPublic ? (definition.url ?? '') : config.url)
  const implied = isPublic ? (definition.apiUrl ?? url) : toApiUrl(url)
  return { url, apiUrl: withoutSlash(config.apiUrl || implied), isPublic }
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '')
}

/** Loads the OpenID Connect code, with its signature checks, when the first ID token arrives. */
export function createOpenIdLater(settings: OpenIdSettings): OpenId {
  let loaded: Promise<OpenId> | undefined
  return {
    async verify(idToken, expected) {
      loaded ??= import('./oauth/oidc.ts').then(({ createOpenId }) => createOpenId(settings))
      return (await loaded).verify(idToken, expected)
    },
  }
}
