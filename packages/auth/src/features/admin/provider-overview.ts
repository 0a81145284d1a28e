import type { Config } from '../../config/config.ts'
import { type ProviderId, providerIds } from '../../plugins/providers/index.ts'
import { external, listMissing } from '../../plugins/providers/settings.ts'

/** A sign-in provider as an operator sees it. */
interface ProviderOverview {
  readonly id: ProviderId
  readonly is_enabled: boolean
  /** The variables that have to be set before users can sign in with it. */
  readonly missing: readonly string[]
  /** The URL to register with the provider. */
  readonly callback_url: string
  readonly client_ids: readonly string[]
}

/** Lists all providers, enabled ones first. */
export function listProviders({
  external: config,
  api,
}: Pick<Config, 'external' | 'api'>): readonly ProviderOverview[] {
  const all = providerIds.map((id): ProviderOverview => {
    const { enabled, clientIds, redirectUri } = config[id]
    const missing = listMissing(id, config[id]).map(({ variable }) => variable.name)
    const { name: switchName } = external[id].variables.enabled
    return {
      id,
      is_enabled: enabled,
      missing: enabled ? missing : [switchName, ...missing],
      callback_url: redirectUri || `${api.externalUrl}/callback`,
      client_ids: clientIds,
    }
  })
  return all.toSorted((one, other) => Number(other.is_enabled) - Number(one.is_enabled))
}
