import type { Check } from '@portcullis/service-kit/settings/config-check'
import {
  type AnyVariable,
  boolean,
  type Chapter,
  duration,
  hideAll,
  list,
  type readSettings,
  type Settings,
  string,
} from '@portcullis/service-kit/settings/env'
import { checkUrl, checkWebUrl } from '../../config/checks.ts'
import { withOldNames } from '../../config/variables.ts'
import { issuersOfProviders } from './allowed-issuers.ts'
import { type ProviderId, providerIds, providers } from './index.ts'
import type { ProviderDefinition } from './oauth/provider.ts'

export interface ProviderConfig {
  readonly enabled: boolean
  /** The first is used in the redirect flow; all are accepted as the audience of ID tokens. */
  readonly clientIds: readonly string[]
  readonly secret: string
  readonly redirectUri: string
  /** Empty: the provider's public URL. */
  readonly url: string
  /** Empty: derived from `url`. */
  readonly apiUrl: string
  readonly skipsNonce: boolean
  readonly isEmailOptional: boolean
}

export type ExternalConfig = Readonly<Record<ProviderId, ProviderConfig>>

function toVariables(id: ProviderId) {
  const prefix = `AUTH_EXTERNAL_${id.toUpperCase()}`
  const { hasOneInstance }: ProviderDefinition = providers[id]
  const urlHelp = hasOneInstance
    ? 'Has no effect, because the addresses of this provider are fixed'
    : `Base URL of ${id}, for example of a self-hosted instance`
  const apiUrlHelp = hasOneInstance ? 'Has no effect' : 'Base URL of its API, if it differs'
  return withOldNames({
    enabled: boolean(`${prefix}_ENABLED`, false, `Whether users can sign in with ${id}`),
    clientIds: list(`${prefix}_CLIENT_ID`, [], `The client ID from ${id}`),
    secret: string(`${prefix}_SECRET`, '', `The client secret from ${id}`, { mask: hideAll }),
    redirectUri: string(
      `${prefix}_REDIRECT_URI`,
      '',
      `The callback URL registered with ${id}: …/callback`,
    ),
    url: string(`${prefix}_URL`, '', urlHelp),
    apiUrl: string(`${prefix}_API_URL`, '', apiUrlHelp),
    skipsNonce: boolean(
      `${prefix}_SKIP_NONCE_CHECK`,
      false,
      'Whether ID tokens are accepted without checking their nonce. A stolen token is then accepted too',
    ),
    isEmailOptional: boolean(
      `${prefix}_EMAIL_OPTIONAL`,
      false,
      `Whether users can sign in if ${id} provides no email address`,
    ),
  })
}

/** One chapter per provider, because the variables are the same for all of them. */
export const external = Object.fromEntries(
  providerIds.map((id) => [
    id,
    { title: `Sign-in with ${id}`, variables: toVariables(id) } satisfies Chapter,
  ]),
) as Readonly<Record<ProviderId, { title: string; variables: ReturnType<typeof toVariables> }>>

export function toExternal(
  settings: ReturnType<typeof readSettings<typeof external>>['settings'],
  check: Check,
): ExternalConfig {
  const config = Object.fromEntries(providerIds.map((id) => [id, settings[id]])) as Record<
    ProviderId,
    ProviderConfig
  >
  for (const id of providerIds) {
    const { variables } = external[id]
    const definition: ProviderDefinition = providers[id]
    if (definition.hasOneInstance) {
      for (const name of ['url', 'apiUrl'] as const) {
        if (check.isSet(variables[name])) {
          check.note(
            `${check.nameOf(variables[name])} has no effect, because the addresses of this provider are fixed`,
          )
        }
      }
      config[id] = { ...settings[id], url: '', apiUrl: '' }
    }
    const { enabled, redirectUri, url, apiUrl } = settings[id]
    if (!enabled) continue
    checkUrl(variables.redirectUri, redirectUri, check)
    checkUrl(variables.url, url, check)
    checkUrl(variables.apiUrl, apiUrl, check)
    for (const { variable, message } of listMissing(id, settings[id])) {
      check.fault(variable, message)
    }
    const urlFault = definition.findUrlFault?.(url)
    if (urlFault !== undefined) check.fault(variables.url, urlFault)
  }
  return config
}

interface MissingSetting {
  readonly variable: AnyVariable
  readonly message: string
}

/** Lists what an enabled provider needs and does not have. */
export function listMissing(id: ProviderId, config: ProviderConfig): readonly MissingSetting[] {
  const { variables } = external[id]
  const { clientIds, secret, redirectUri, url } = config
  const definition: ProviderDefinition = providers[id]
  const needs: readonly (readonly [boolean, AnyVariable, string])[] = [
    [clientIds.length > 0, variables.clientIds, 'missing OAuth client ID'],
    [secret !== '', variables.secret, 'missing OAuth secret'],
    [redirectUri !== '', variables.redirectUri, 'missing redirect URI'],
    [url !== '' || definition.url !== undefined, variables.url, `must be the URL of your ${id}`],
  ]
  return needs.flatMap(([isThere, variable, message]) => (isThere ? [] : [{ variable, message }]))
}

export const externalFlow = {
  title: 'Sign-in with external providers',
  variables: withOldNames({
    stateLifetimeMs: duration(
      'AUTH_EXTERNAL_FLOW_STATE_EXPIRY_DURATION',
      '300s',
      'Time that a user has to sign in at the provider; at least five minutes',
    ),
    redirectUrl: string(
      'AUTH_EXTERNAL_REDIRECT_URL',
      '',
      'URL to which users are sent after signing in with a provider. Overrides the URL in the request',
      { aliases: ['AUTH_EXTERNAL_REDIRECTURL', 'GOTRUE_EXTERNAL_REDIRECTURL'] },
    ),
    iosBundleId: string(
      'AUTH_EXTERNAL_IOS_BUNDLE_ID',
      '',
      'The bundle ID of your iOS app. ID tokens that Apple issued to it are accepted',
    ),
    allowedIssuers: list(
      'AUTH_EXTERNAL_ALLOWED_ID_TOKEN_ISSUERS',
      [],
      'Other OpenID issuers whose ID tokens are accepted from apps that send issuer and client_id. Apple and Google need no entry',
    ),
    allowedClientIds: list(
      'AUTH_EXTERNAL_ALLOWED_ID_TOKEN_CLIENT_IDS',
      [],
      'The only audiences that are accepted in ID tokens of these issuers',
      { defaultText: 'the client_id that the app sends' },
    ),
  }),
} satisfies Chapter

export interface ExternalFlowConfig {
  readonly stateLifetimeMs: number
  /** Empty: the URL in the request is used. */
  readonly redirectUrl: string
  readonly iosBundleId: string
  /** Issuers of ID tokens in addition to those of the providers. */
  readonly allowedIssuers: readonly string[]
  /** If empty, the client ID that the app sends is the accepted audience. */
  readonly allowedClientIds: readonly string[]
}

const leastMs = 300_000

export function toExternalFlow(
  settings: Settings<typeof externalFlow.variables>,
  check: Check,
): ExternalFlowConfig {
  if (settings.redirectUrl !== '') {
    checkUrl(externalFlow.variables.redirectUrl, settings.redirectUrl, check)
  }
  checkIssuers(settings, check)
  return { ...settings, stateLifetimeMs: Math.max(leastMs, settings.stateLifetimeMs) }
}

function checkIssuers(settings: Settings<typeof externalFlow.variables>, check: Check): void {
  const { allowedIssuers: variable, allowedClientIds } = externalFlow.variables
  const others = settings.allowedIssuers.filter((issuer) => !issuersOfProviders.has(issuer))
  for (const issuer of others) checkWebUrl(variable, issuer, check)
  if (others.length === 0 || settings.allowedClientIds.length > 0) return
  const name = check.nameOf(variable)
  check.note(
    `${name}: ID tokens that ${others.join(', ')} issued to any other app are accepted too, so each ` +
      `of these apps can sign in as its users. Set ${allowedClientIds.name} to the client IDs of your apps`,
  )
}
