import type { Check } from '@portcullis/service-kit/config-check'
import { type Chapter, duration, type Settings, string } from '@portcullis/service-kit/env'
import { withOldNames } from './auth-name.ts'
import { checkUrl } from './required.ts'

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
