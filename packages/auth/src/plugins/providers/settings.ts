import type { Check } from '@portcullis/service-kit/config-check'
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
} from '@portcullis/service-kit/env'
import { checkUrl } from '../../config/checks.ts'
import { withOldNames } from '../../config/variables.ts'
import { type ProviderId, providerIds, providers } from './index.ts'
import type { ProviderDefinition } from './oauth/provider.ts'

export interface ProviderConfig {
  readonly enabled: boolean
  /** The first is used for redirects, all are taken as audience of ID tokens. */
  readonly clientIds: readonly string[]
  readonly secret: string
  readonly redirectUri: string
  /** Empty: the provider's own. */
  readonly url: string
  /** Empty: what follows from `url`. */
  readonly apiUrl: string
  readonly skipsNonce: boolean
  readonly isEmailOptional: boolean
}

export type ExternalConfig = Readonly<Record<ProviderId, ProviderConfig>>

function toVariables(id: ProviderId) {
  const prefix = `AUTH_EXTERNAL_${id.toUpperCase()}`
  const { isAtOnePlace }: ProviderDefinition = providers[id]
  const urlHelp = isAtOnePlace
    ? `Without effect: there is only one ${id}`
    : `Where ${id} is, in place of the public one`
  const apiUrlHelp = isAtOnePlace ? 'Without effect' : 'Where its API is, if it is not there'
  return withOldNames({
    enabled: boolean(`${prefix}_ENABLED`, false, `Whether people sign in through ${id}`),
    clientIds: list(`${prefix}_CLIENT_ID`, [], `Our id at ${id}`),
    secret: string(`${prefix}_SECRET`, '', `Our secret at ${id}`, { mask: hideAll }),
    redirectUri: string(`${prefix}_REDIRECT_URI`, '', `Where ${id} sends people back: …/callback`),
    url: string(`${prefix}_URL`, '', urlHelp),
    apiUrl: string(`${prefix}_API_URL`, '', apiUrlHelp),
    skipsNonce: boolean(
      `${prefix}_SKIP_NONCE_CHECK`,
      false,
      'Whether ID tokens are taken without a look at their nonce, so that a stolen one is too',
    ),
    isEmailOptional: boolean(
      `${prefix}_EMAIL_OPTIONAL`,
      false,
      `Whether people sign in of whom ${id} tells no address`,
    ),
  })
}

/** One chapter for each provider: the table has the same lines for all of them. */
export const external = Object.fromEntries(
  providerIds.map((id) => [
    id,
    { title: `Sign-in through ${id}`, variables: toVariables(id) } satisfies Chapter,
  ]),
) as Readonly<Record<ProviderId, { title: string; variables: ReturnType<typeof toVariables> }>>

export function toExternal(
  settings: ReturnType<typeof readSettings<typeof external>>['settings'],
  check: Check,
): ExternalConfig {
  const config: Record<ProviderId, ProviderConfig> = { ...settings }
  for (const id of providerIds) {
    const { variables } = external[id]
    const definition: ProviderDefinition = providers[id]
    if (definition.isAtOnePlace) {
      for (const name of ['url', 'apiUrl'] as const) {
        if (check.isSet(variables[name])) {
          check.note(`${check.nameOf(variables[name])} has no effect: there is only one ${id}`)
        }
      }
      config[id] = { ...settings[id], url: '', apiUrl: '' }
    }
    const { enabled, clientIds, secret, redirectUri, url, apiUrl } = settings[id]
    if (!enabled) continue
    checkUrl(variables.redirectUri, redirectUri, check)
    checkUrl(variables.url, url, check)
    checkUrl(variables.apiUrl, apiUrl, check)
    const demand = (variable: AnyVariable, isThere: boolean, message: string) => {
      if (!isThere) check.fault(variable, message)
    }
    demand(variables.clientIds, clientIds.length > 0, 'missing OAuth client ID')
    demand(variables.secret, secret !== '', 'missing OAuth secret')
    demand(variables.redirectUri, redirectUri !== '', 'missing redirect URI')
    demand(
      variables.url,
      url !== '' || definition.url !== undefined,
      `must be the URL of your ${id}`,
    )
    const urlFault = definition.findUrlFault?.(url)
    if (urlFault !== undefined) check.fault(variables.url, urlFault)
  }
  return config
}

export const externalFlow = {
  title: 'Sign-in through providers',
  variables: withOldNames({
    stateLifetimeMs: duration(
      'AUTH_EXTERNAL_FLOW_STATE_EXPIRY_DURATION',
      '300s',
      'How long somebody may take at the provider; five minutes at least',
    ),
    redirectUrl: string(
      'AUTH_EXTERNAL_REDIRECT_URL',
      '',
      'Where everybody goes who comes back from a provider, whatever the request says',
    ),
    iosBundleId: string(
      'AUTH_EXTERNAL_IOS_BUNDLE_ID',
      '',
      'The id of your iOS app, for which ID tokens of apple may be made',
    ),
  }),
} satisfies Chapter

export interface ExternalFlowConfig {
  readonly stateLifetimeMs: number
  /** Empty: as the request says. */
  readonly redirectUrl: string
  readonly iosBundleId: string
}

const leastMs = 300_000

export function toExternalFlow(
  settings: Settings<typeof externalFlow.variables>,
  check: Check,
): ExternalFlowConfig {
  if (settings.redirectUrl !== '') {
    checkUrl(externalFlow.variables.redirectUrl, settings.redirectUrl, check)
  }
  return { ...settings, stateLifetimeMs: Math.max(leastMs, settings.stateLifetimeMs) }
}
