import { ApiError, invalid } from '../../errors.ts'
import { OutgoingError } from '../../outgoing/http-client.ts'
import { type Discovery, DiscoveryError } from '../../plugins/providers/custom/discovery.ts'
import type { ExternalProvider } from '../../plugins/providers/oauth/provider.ts'
import type { Services } from '../../services.ts'
import { toDiscoveryPlace } from './settings.ts'
import {
  type CustomProviderRow,
  findCustomProvider,
  listCustomProviders,
  renewDiscovery,
} from './statements.ts'

/** How long a document of OpenID Connect Discovery is used before it is fetched again. */
const freshMs = 3_600_000

export function isCustom(name: string): boolean {
  return name.toLowerCase().startsWith('custom:')
}

/**
 * Finds a provider of the configuration, or one that an administrator has registered.
 * @throws {ApiError} with the reason when the provider is unknown, disabled or misconfigured.
 */
export async function findProvider(services: Services, name: string): Promise<ExternalProvider> {
  if (!isCustom(name)) return services.providers.find(name)
  const row = await findRegistered(services, name)
  if (row === undefined) {
    throw invalid(`Unsupported provider: Provider ${name.slice(0, 100)} could not be found`)
  }
  if (!row.settings.enabled) throw invalid('Unsupported provider: provider is not enabled')
  return openProvider(services, row)
}

/** Undefined if there is no such provider, or if custom providers are disabled. */
export async function findRegistered(
  { config, db }: Services,
  name: string,
): Promise<CustomProviderRow | undefined> {
  if (!config.customOAuth.enabled) return undefined
  const [row] = await db.run(findCustomProvider, { identifier: name.toLowerCase() })
  return row
}

/** @throws {ApiError} if its discovery document has become invalid. */
export async function openProvider(
  services: Services,
  row: CustomProviderRow,
): Promise<ExternalProvider> {
  const { customProviders, factorSecrets } = services
  const secret = factorSecrets.open(row.secret, row.id).toString()
  return customProviders.create(row.settings, secret, await refreshDiscovery(services, row))
}

/**
 * Fetches the document again after an hour, and checks it again. The stored one stays in use while
 * the provider cannot be reached, but not if the provider has become another issuer.
 */
async function refreshDiscovery(
  { customProviders, db, now }: Services,
  row: CustomProviderRow,
): Promise<Discovery | undefined> {
  const place = toDiscoveryPlace(row.settings)
  if (place === undefined) return undefined
  const { id, version, discovery, discovered_at: discoveredAt } = row
  const ageMs = now() - Date.parse(discoveredAt ?? '')
  if (discovery !== null && ageMs < freshMs) return discovery
  try {
    const renewed = await customProviders.discover(place)
    const parts = { id, version, discovery: JSON.stringify(renewed), now: new Date(now()) }
    await db.run(renewDiscovery, parts)
    return renewed
  } catch (cause) {
    if (cause instanceof OutgoingError && discovery !== null) return discovery
    if (!(cause instanceof OutgoingError || cause instanceof DiscoveryError)) throw cause
    const message = `The discovery document of ${row.identifier} is not valid`
    throw new ApiError('unexpected_failure', message, { cause })
  }
}

/** The registered providers with which users can sign in. */
export async function listEnabledProviders({
  db,
  config,
}: Pick<Services, 'db' | 'config'>): Promise<readonly CustomProviderRow[]> {
  if (!config.customOAuth.enabled) return []
  const rows = await db.run(listCustomProviders, {})
  return rows.filter(({ settings }) => settings.enabled)
}
