import type { Check } from '@portcullis/service-kit/settings/config-check'
import {
  boolean,
  type Chapter,
  duration,
  type Settings,
} from '@portcullis/service-kit/settings/env'
import { withOldNames } from './variables.ts'

const toValidity = (name: string, label: string) =>
  duration(
    name,
    '10m',
    `How long after its time of issue a message signed by a wallet for ${label} is accepted, and ` +
      'how far that time may be in the future',
    { bareSeconds: true },
  )

export const web3 = {
  title: 'Web3 wallets',
  variables: withOldNames({
    ethereumEnabled: boolean(
      'AUTH_EXTERNAL_WEB3_ETHEREUM_ENABLED',
      false,
      'Whether users can sign in with wallets for Ethereum',
    ),
    ethereumValidMs: toValidity(
      'AUTH_EXTERNAL_WEB3_ETHEREUM_MAXIMUM_VALIDITY_DURATION',
      'Ethereum',
    ),
    solanaEnabled: boolean(
      'AUTH_EXTERNAL_WEB3_SOLANA_ENABLED',
      false,
      'Whether users can sign in with wallets for Solana',
    ),
    solanaValidMs: toValidity('AUTH_EXTERNAL_WEB3_SOLANA_MAXIMUM_VALIDITY_DURATION', 'Solana'),
  }),
} satisfies Chapter

interface ChainConfig {
  readonly enabled: boolean
  readonly mostValidMs: number
}

export interface Web3Config {
  readonly ethereum: ChainConfig
  readonly solana: ChainConfig
}

/** Used messages are kept for a day after they have expired. */
const longestMs = 86_400_000

export function toWeb3(settings: Settings<typeof web3.variables>, check: Check): Web3Config {
  const { variables } = web3
  for (const name of ['ethereumValidMs', 'solanaValidMs'] as const) {
    const isValid = settings[name] > 0 && settings[name] <= longestMs
    if (!isValid) check.fault(variables[name], 'must be more than 0 and at most 24h')
  }
  return {
    ethereum: { enabled: settings.ethereumEnabled, mostValidMs: settings.ethereumValidMs },
    solana: { enabled: settings.solanaEnabled, mostValidMs: settings.solanaValidMs },
  }
}
