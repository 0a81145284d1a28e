import type { Check } from '@portcullis/service-kit/settings/config-check'
import {
  boolean,
  type Chapter,
  duration,
  integer,
  list,
  type Settings,
} from '@portcullis/service-kit/settings/env'
import { checkDuration, oneDay } from './checks.ts'
import { withOldNames } from './variables.ts'

export const apiKeys = {
  title: 'API keys',
  variables: withOldNames({
    enabled: boolean(
      'AUTH_API_KEYS_ENABLED',
      false,
      'Whether users can create API keys for themselves (/user/api-keys). Administrators can always create keys',
    ),
    scopes: list(
      'AUTH_API_KEYS_SCOPES',
      [],
      'Scopes that users can give to their own keys, such as reports:read',
      { defaultText: 'none' },
    ),
    mostPerOwner: integer(
      'AUTH_API_KEYS_MAX_PER_OWNER',
      20,
      'Maximum number of keys of a user or service account',
      { min: 1 },
    ),
    answersExtAuthz: boolean(
      'AUTH_EXT_AUTHZ_ENABLED',
      false,
      'Whether /ext-authz tells Envoy if a request has a valid access token or API key. Do not expose it to the public',
    ),
    tokenMs: duration(
      'AUTH_API_KEYS_JWT_EXP',
      '5m',
      'Lifetime of the access tokens that keys are exchanged for; at most AUTH_JWT_EXP',
      { bareSeconds: true },
    ),
  }),
} satisfies Chapter

export interface ApiKeysConfig {
  /** Whether users can create keys. */
  readonly enabled: boolean
  readonly scopes: readonly string[]
  readonly mostPerOwner: number
  readonly answersExtAuthz: boolean
  readonly tokenSeconds: number
}

export function toApiKeys(
  { tokenMs, ...settings }: Settings<typeof apiKeys.variables>,
  check: Check,
): ApiKeysConfig {
  const { variables } = apiKeys
  checkDuration(variables.tokenMs, tokenMs, oneDay, check)
  if (tokenMs < 1_000) check.fault(variables.tokenMs, 'must be at least 1s')
  return { ...settings, tokenSeconds: Math.floor(tokenMs / 1_000) }
}
