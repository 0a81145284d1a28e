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

export interface ProviderConfig {
  readonly enabled: boolean
  /** The first is used for redirects, all are taken as audience of ID tokens. */
  readonly clientIds: readonly string[]
  readonly secret: string
  readonly redirectUri: string
  /** Empty: the provider's own. */
  readonly url: string
}

export type ExternalConfig = Readonly<Record<ProviderId, ProviderConfig>>

function toVariables(id: ProviderId) {
  const prefix = `AUTH_EXTERNAL_${id.toUpperCase()}`
  return withOldNames({
    enabled: boolean(`${prefix}_ENABLED`, false, `Whether people sign in through ${id}`),
    clientIds: list(`${prefix}_CLIENT_ID`, [], `Our id at ${id}`),
    secret: string(`${prefix}_SECRET`, '', `Our secret at ${id}`, { mask: hideAll }),
    redirectUri: string(`${prefix}_REDIRECT_URI`, '', `Where ${id} sends people back: …/callback`),
    url: string(`${prefix}_URL`, '', `Where ${id} is, in place of the public one`),
  })
}

/** One chapter for each provider: the table has the same five lines for all of them. */
export const external = Object.fromEntries(
  providerIds.map((id) => [
    id,
    { title: `Sign-in through ${id}`, variables: toVariables(id) } satisfies Chapter,
  ]),
) as Readonly<Record<ProviderId, { title: string; variables: ReturnType<typeof toVariables> }>>

/** Providers without a public address: which one is meant must be said. */
const needsUrl: ReadonlySet<ProviderId> = new Set(['keycloak'])

export function toExternal(
  settings: ReturnType<typeof readSettings<typeof external>>['settings'],
  check: Check,
): ExternalConfig {
  for (const id of providerIds) {
    const { variables } = external[id]
    const { enabled, clientIds, secret, redirectUri, url } = settings[id]
    if (!enabled) continue
    const demand = (variable: AnyVariable, isThere: boolean, message: string) => {
      if (!isThere) check.fault(variable, message)
    }
    demand(variables.clientIds, clientIds.length > 0, 'missing OAuth client ID')
    demand(variables.secret, secret !== '', 'missing OAuth secret')
    demand(variables.redirectUri, redirectUri !== '', 'missing redirect URI')
    demand(variables.url, url !== '' || !needsUrl.has(id), `must be the URL of your ${id}`)
  }
  return settings
}
