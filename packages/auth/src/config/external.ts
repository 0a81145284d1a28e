import type { Check } from '@portcullis/service-kit/config-check'
import {
  type AnyVariable,
  boolean,
  type Chapter,
  hideAll,
  list,
  type readSettings,
  string,
} from '@portcullis/service-kit/env'
import { withOldNames } from './auth-name.ts'
import { checkUrl } from './required.ts'

/** Exactly these are the keys of `external` in /settings, in the order of their names. */
export const providerIds = [
  'apple',
  'azure',
  'bitbucket',
  'discord',
  'facebook',
  'figma',
  'github',
  'gitlab',
  'google',
  'keycloak',
  'linkedin',
  'notion',
  'slack',
  'spotify',
  'twitch',
  'twitter',
  'workos',
] as const
export type ProviderId = (typeof providerIds)[number]

export function isProviderId(text: string): text is ProviderId {
  return providerIds.some((id) => id === text)
}

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

/** There is only one of each: a URL of another would hand people's accounts to whoever is there. */
const atOnePlace: ReadonlySet<ProviderId> = new Set(['apple', 'google'])

function toVariables(id: ProviderId) {
  const prefix = `AUTH_EXTERNAL_${id.toUpperCase()}`
  const urlHelp = atOnePlace.has(id)
    ? `Without effect: there is only one ${id}`
    : `Where ${id} is, in place of the public one`
  const apiUrlHelp = atOnePlace.has(id) ? 'Without effect' : 'Where its API is, if it is not there'
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

/** Providers without a public address: which one is meant must be said. */
const needsUrl: ReadonlySet<ProviderId> = new Set(['keycloak'])

/** ID tokens have the id of the tenant: with its name in the URL none of them would fit. */
const ofAzure = /^https:\/\/login\.microsoftonline\.com\/?/
const ofTenant = /^(?:common|organizations|consumers|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})\/?$/

function isTenant(url: string): boolean {
  return !ofAzure.test(url) || ofTenant.test(url.replace(ofAzure, ''))
}

export function toExternal(
  settings: ReturnType<typeof readSettings<typeof external>>['settings'],
  check: Check,
): ExternalConfig {
  const config: Record<ProviderId, ProviderConfig> = { ...settings }
  for (const id of providerIds) {
    const { variables } = external[id]
    if (atOnePlace.has(id)) {
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
    demand(variables.url, url !== '' || !needsUrl.has(id), `must be the URL of your ${id}`)
    demand(variables.url, id !== 'azure' || isTenant(url), 'must end with the id of your tenant')
  }
  return config
}
