import { ApiError, invalid } from '../../errors.ts'
import { type IdentityProvider, parseMetadata } from '../../saml/identity-provider.ts'
import { SamlError } from '../../saml/saml-error.ts'
import type { Services } from '../../services.ts'
import { renewMetadata, type SsoProviderRow } from './statements/providers.ts'

/** Metadata with its text. */
interface ReadMetadata {
  readonly xml: string
  readonly identityProvider: IdentityProvider
}

/** Fetches metadata unless it was uploaded, and parses it. @throws {ApiError} */
export async function readMetadata(
  services: Services,
  { url, xml }: { readonly url: string; readonly xml: string },
): Promise<ReadMetadata> {
  const text = url === '' ? xml : await fetchMetadata(services, url)
  try {
    return { xml: text, identityProvider: parseMetadata(text) }
  } catch (error) {
    if (error instanceof SamlError) throw invalid(`SAML Metadata is not valid: ${error.message}`)
    throw error
  }
}

/** The reason is only logged, because it would show which internal hosts exist. */
async function fetchMetadata({ fetchMetadata: fetchText }: Services, url: string): Promise<string> {
  try {
    return await fetchText(url)
  } catch (cause) {
    const { host } = new URL(url)
    const message = `Error fetching SAML Metadata from ${host}`
    throw new ApiError('saml_metadata_fetch_failed', message, { cause })
  }
}

const dayMs = 86_400_000
/** Limits the requests that a wrong response can cause. */
const shortestIntervalMs = 5 * 60_000

/** Returns what the stored metadata says, after reading it again if it is too old. @throws {ApiError} */
export async function openIdentityProvider(
  services: Services,
  provider: SsoProviderRow,
): Promise<IdentityProvider> {
  const stored = parseMetadata(provider.metadata_xml)
  const nowMs = services.now()
  const readMs = Date.parse(provider.metadata_read_at)
  const { cacheMs = dayMs, validUntilMs } = stored
  // At least daily, so that a key that the provider has withdrawn is soon refused.
  const staleMs = Math.min(
    readMs + Math.min(cacheMs, dayMs),
    validUntilMs ?? Number.POSITIVE_INFINITY,
  )
  const current = nowMs < staleMs ? stored : ((await renew(services, provider)) ?? stored)
  if ((current.validUntilMs ?? nowMs) >= nowMs) return current
  throw new ApiError(
    'validation_failed',
    'The SAML Metadata of the identity provider has expired and must be updated by an administrator',
  )
}

/**
 * Reads the metadata again because a response is not signed with any known key, which happens when
 * the identity provider has a new one. Undefined if there is nothing new.
 */
export async function findNewerIdentityProvider(
  services: Services,
  provider: SsoProviderRow,
): Promise<IdentityProvider | undefined> {
  return await renew(services, provider)
}

/** Undefined if the metadata cannot be read now; the stored metadata stays in use. */
async function renew(
  services: Services,
  provider: SsoProviderRow,
): Promise<IdentityProvider | undefined> {
  const { id, metadata_url: url, metadata_read_at: readAt } = provider
  const nowMs = services.now()
  if (url === null || nowMs < Date.parse(readAt) + shortestIntervalMs) return undefined
  const read = await tryToRead(services, url, provider.entity_id)
  // The time is recorded in any case, so that a host that does not respond is not asked each time.
  await services.db.run(renewMetadata, {
    id,
    metadataXml: read?.xml ?? null,
    now: new Date(nowMs),
    readAt,
  })
  return read?.identityProvider
}

async function tryToRead(services: Services, url: string, entityId: string) {
  try {
    const read = await readMetadata(services, { url, xml: '' })
    return read.identityProvider.entityId === entityId ? read : undefined
  } catch (error) {
    if (error instanceof ApiError) return undefined
    throw error
  }
}
