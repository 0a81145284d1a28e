import type { Check } from '@portcullis/service-kit/settings/config-check'
import {
  boolean,
  type Chapter,
  integer,
  list,
  type Settings,
  string,
} from '@portcullis/service-kit/settings/env'
import { checkWebUrl } from '../../../config/checks.ts'
import { withOldNames } from '../../../config/variables.ts'

export const customOAuth = {
  title: 'Custom providers',
  variables: withOldNames({
    enabled: boolean(
      'AUTH_CUSTOM_OAUTH_ENABLED',
      true,
      'Whether administrators can register providers (/admin/custom-providers), and users can sign in with them',
    ),
    mostProviders: integer(
      'AUTH_CUSTOM_OAUTH_MAX_PROVIDERS',
      0,
      'Maximum number of custom providers; 0: no limit',
      { min: 0 },
    ),
    externalUrl: string(
      'AUTH_CUSTOM_OAUTH_EXTERNAL_URL',
      '',
      'Public URL of this server that custom providers redirect to; /callback/custom:NAME is appended',
      { defaultText: 'AUTH_API_EXTERNAL_URL' },
    ),
    sharesCallback: boolean(
      'AUTH_CUSTOM_OAUTH_SHARED_CALLBACK',
      false,
      'Whether custom providers redirect to /callback, as with Supabase Auth, and not each to its own ' +
        '/callback/custom:NAME. A malicious provider can then get the codes of providers that do not return iss',
      { defaultText: 'true if AUTH_COMPAT_MODE is upstream' },
    ),
    internalHosts: list(
      'AUTH_CUSTOM_OAUTH_INTERNAL_HOSTS',
      [],
      'Hosts of custom providers that may be in the internal network and may be used without TLS. All ' +
        'others must have public addresses',
    ),
  }),
} satisfies Chapter

export interface CustomOAuthConfig {
  readonly enabled: boolean
  /** 0: no limit. */
  readonly mostProviders: number
  /** Without the name of a provider. */
  readonly redirectUri: string
  /** Whether all custom providers redirect to the same URL. */
  readonly sharesCallback: boolean
  /** In lower case. */
  readonly internalHosts: readonly string[]
}

export function toCustomOAuth(
  settings: Settings<typeof customOAuth.variables>,
  { apiUrl, isUpstream }: { readonly apiUrl: string; readonly isUpstream: boolean },
  check: Check,
): CustomOAuthConfig {
  const { enabled, mostProviders, externalUrl, internalHosts } = settings
  if (externalUrl !== '') checkWebUrl(customOAuth.variables.externalUrl, externalUrl, check)
  return {
    enabled,
    mostProviders,
    redirectUri: `${(externalUrl || apiUrl).replace(/\/+$/, '')}/callback`,
    sharesCallback: check.isSet(customOAuth.variables.sharesCallback)
      ? settings.sharesCallback
      : isUpstream,
    internalHosts: internalHosts.map((host) => host.toLowerCase()),
  }
}
