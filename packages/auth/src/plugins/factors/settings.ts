import type { Check } from '@portcullis/service-kit/settings/config-check'
import {
  boolean,
  type Chapter,
  duration,
  integer,
  type Settings,
} from '@portcullis/service-kit/settings/env'
import { checkDuration, tenYears } from '../../config/checks.ts'
import { noteIfOff, switchableLimit, withOldNames } from '../../config/variables.ts'
import type { FactorKind, FactorNeed } from './factor-kind.ts'
import { type FactorKindName, factorKindNames, factorKinds } from './index.ts'

const ownVariables = withOldNames({
  recoveryCodesEnroll: boolean(
    'AUTH_MFA_RECOVERY_CODES_ENROLL_ENABLED',
    true,
    'Whether users with a second factor may generate recovery codes',
  ),
  recoveryCodesVerify: boolean(
    'AUTH_MFA_RECOVERY_CODES_VERIFY_ENABLED',
    true,
    'Whether recovery codes are accepted',
  ),
  challengeExpiresInMs: duration(
    'AUTH_MFA_CHALLENGE_EXPIRY_DURATION',
    '300s',
    'Lifetime of a challenge',
    { bareSeconds: true, defaultText: '300' },
  ),
  factorExpiresInMs: duration(
    'AUTH_MFA_FACTOR_EXPIRY_DURATION',
    '300s',
    'Time after which an unverified factor may be replaced and no longer counts towards the limit',
    { bareSeconds: true },
  ),
  mostEnrolled: integer('AUTH_MFA_MAX_ENROLLED_FACTORS', 10, 'Maximum number of factors per user', {
    min: 0,
  }),
  mostVerified: integer(
    'AUTH_MFA_MAX_VERIFIED_FACTORS',
    10,
    'Maximum number of verified factors per user',
    {
      min: 0,
    },
  ),
  requestsPerMinute: switchableLimit(
    'AUTH_MFA_RATE_LIMIT_CHALLENGE_AND_VERIFY',
    15,
    'Challenge and verify requests per minute from one IP address',
  ),
})

/** The variables of all kinds, by `kind.setting`. */
const kindVariables = Object.fromEntries(
  factorKindNames.flatMap((name) =>
    Object.entries(factorKinds[name].variables).map(
      ([key, variable]) => [`${name}.${key}`, variable] as const,
    ),
  ),
)

export const mfa: Chapter<typeof ownVariables> = {
  title: 'Second factors',
  variables: { ...kindVariables, ...ownVariables },
}

type MfaSettings = Settings<typeof ownVariables>

/** Whether factors of a kind may be enrolled, and whether they may be used. */
interface FactorSwitch {
  readonly enroll: boolean
  readonly verify: boolean
}

/** The settings of each kind, by its name. */
type FactorKindsConfig = {
  readonly [Name in FactorKindName]: Settings<(typeof factorKinds)[Name]['variables']>
}

export interface MfaConfig
  extends Omit<MfaSettings, 'recoveryCodesEnroll' | 'recoveryCodesVerify'> {
  readonly kinds: FactorKindsConfig
  readonly recoveryCodes: FactorSwitch
}

export function toMfa(settings: MfaSettings, check: Check): MfaConfig {
  const { challengeExpiresInMs, factorExpiresInMs, requestsPerMinute } = settings
  noteIfOff(ownVariables.requestsPerMinute, requestsPerMinute, check)
  checkDuration(ownVariables.challengeExpiresInMs, challengeExpiresInMs, tenYears, check)
  checkDuration(ownVariables.factorExpiresInMs, factorExpiresInMs, tenYears, check)
  const kinds = factorKindNames.map((name) => [name, toKindSettings(name, settings, check)])
  return {
    kinds: Object.fromEntries(kinds),
    recoveryCodes: {
      enroll: settings.recoveryCodesEnroll,
      verify: settings.recoveryCodesVerify,
    },
    challengeExpiresInMs,
    factorExpiresInMs,
    mostEnrolled: settings.mostEnrolled,
    mostVerified: settings.mostVerified,
    requestsPerMinute,
  }
}

/** Whether an enabled kind of factor needs something else to be configured. */
export function isNeededByFactors(need: FactorNeed, settings: MfaSettings): boolean {
  return factorKindNames.some((name) => {
    const kind: FactorKind = factorKinds[name]
    const { enroll, verify } = readKindSettings(name, settings)
    return kind.needs === need && (enroll || verify)
  })
}

function toKindSettings(name: FactorKindName, settings: MfaSettings, check: Check) {
  const kind: FactorKind = factorKinds[name]
  const values = readKindSettings(name, settings)
  return kind.toSettings?.(values, kind.variables, check) ?? values
}

function readKindSettings(
  name: FactorKindName,
  settings: MfaSettings,
): Settings<FactorKind['variables']> {
  const values: Readonly<Record<string, unknown>> = settings
  const { variables }: FactorKind = factorKinds[name]
  return Object.fromEntries(
    Object.keys(variables).map((key) => [key, values[`${name}.${key}`]]),
  ) as Settings<typeof variables>
}
