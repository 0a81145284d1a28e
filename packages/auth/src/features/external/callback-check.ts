import { ApiError } from '../../errors.ts'
import type { Services } from '../../services.ts'
import { isCustom } from '../custom-providers/find-provider.ts'
import { listCustomProviders } from '../custom-providers/statements.ts'
import type { ClaimedFlow } from './statements/flows.ts'

interface Arrival {
  /** The provider that the path of the callback names. */
  readonly provider: string | undefined
  /** The parameter `iss` (RFC 9207). */
  readonly issuer: string | undefined
}

/**
 * Checks that the response is from the provider of the flow. A malicious provider could otherwise send the browser
 * on to another provider, whose code it would then get from this server (mix-up, RFC 9700, section 4.4). Providers
 * without their own callback are trusted if an operator has configured them, or if they name themselves.
 * @throws {ApiError}
 */
export async function checkCallback(
  { config, db }: Services,
  { provider_type: expected }: Pick<ClaimedFlow, 'provider_type'>,
  { provider, issuer }: Arrival,
): Promise<void> {
  const hasOwn = isCustom(expected) && !config.customOAuth.sharesCallback
  if (provider !== (hasOwn ? expected : undefined)) {
    const message = 'The response came to the callback of another provider'
    throw new ApiError('bad_oauth_callback', message)
  }
  if (hasOwn || !isCustom(expected)) return
  const rows = await db.run(listCustomProviders, {})
  const enabled = rows.filter(({ settings }) => settings.enabled)
  const isOpenId = enabled.some(
    ({ identifier, settings }) => identifier === expected && settings.provider_type === 'oidc',
  )
  // The issuer of OpenID Connect is compared when the code is exchanged.
  if (enabled.length < 2 || (isOpenId && issuer !== undefined)) return
  throw new ApiError(
    'bad_oauth_callback',
    'The response does not show which provider it is from: register /callback/custom:NAME with the provider, and unset AUTH_CUSTOM_OAUTH_SHARED_CALLBACK',
  )
}
