import type { Check } from '@portcullis/service-kit/config-check'
import {
  boolean,
  type Chapter,
  duration,
  integer,
  type Settings,
  string,
} from '@portcullis/service-kit/env'
import { checkDuration, checkTextTemplate, tenYears } from './checks.ts'
import { noteIfOff, switchableLimit, unlessBlank, withOldNames } from './variables.ts'

export const mfa = {
  title: 'Second factors',
  variables: withOldNames({
    totpEnroll: boolean('AUTH_MFA_TOTP_ENROLL_ENABLED', true, 'Whether users may add TOTP factors'),
    totpVerify: boolean('AUTH_MFA_TOTP_VERIFY_ENABLED', true, 'Whether TOTP codes are accepted'),
    phoneEnroll: boolean(
      'AUTH_MFA_PHONE_ENROLL_ENABLED',
      false,
      'Whether users may add phone factors; they need a gateway for text messages',
    ),
    phoneVerify: boolean(
      'AUTH_MFA_PHONE_VERIFY_ENABLED',
      false,
      'Whether codes of phone factors are sent and accepted',
    ),
    webAuthnEnroll: boolean(
      'AUTH_MFA_WEB_AUTHN_ENROLL_ENABLED',
      false,
      'Whether users may add security keys and the like (WebAuthn) as factors',
    ),
    webAuthnVerify: boolean(
      'AUTH_MFA_WEB_AUTHN_VERIFY_ENABLED',
      false,
      'Whether WebAuthn factors are asked and accepted',
    ),
    recoveryCodesEnroll: boolean(
      'AUTH_MFA_RECOVERY_CODES_ENROLL_ENABLED',
      true,
      'Whether users with a second factor may have recovery codes',
    ),
    recoveryCodesVerify: boolean(
      'AUTH_MFA_RECOVERY_CODES_VERIFY_ENABLED',
      true,
      'Whether recovery codes are accepted',
    ),
    challengeExpiresInMs: duration(
      'AUTH_MFA_CHALLENGE_EXPIRY_DURATION',
      '300s',
      'How long a challenge may be answered',
      { bareSeconds: true, defaultText: '300' },
    ),
    factorExpiresInMs: duration(
      'AUTH_MFA_FACTOR_EXPIRY_DURATION',
      '300s',
      'How long a factor that nobody has verified is in the way of others',
      { bareSeconds: true },
    ),
    mostEnrolled: integer('AUTH_MFA_MAX_ENROLLED_FACTORS', 10, 'Factors of a user', { min: 0 }),
    mostVerified: integer('AUTH_MFA_MAX_VERIFIED_FACTORS', 10, 'Verified factors of a user', {
      min: 0,
    }),
    requestsPerMinute: switchableLimit(
      'AUTH_MFA_RATE_LIMIT_CHALLENGE_AND_VERIFY',
      15,
      'Challenges and answers to them from one address in a minute',
    ),
    phoneOtpLength: integer('AUTH_MFA_PHONE_OTP_LENGTH', 6, 'Digits of a code, from 6 to 10'),
    phoneMaxFrequencyMs: duration(
      'AUTH_MFA_PHONE_MAX_FREQUENCY',
      '1m',
      'The shortest time between two messages to one phone factor',
      { bareSeconds: true },
    ),
    phoneTemplate: unlessBlank(
      string(
        'AUTH_MFA_PHONE_TEMPLATE',
        'Your code is {{ .Code }}',
        'The text of a message to a phone factor',
      ),
    ),
  }),
} satisfies Chapter

/** Whether factors of a kind may be added, and whether they may be used. */
export interface FactorSwitch {
  readonly enroll: boolean
  readonly verify: boolean
}

export interface MfaConfig {
  readonly totp: FactorSwitch
  readonly phone: FactorSwitch
  readonly webAuthn: FactorSwitch
  readonly recoveryCodes: FactorSwitch
  readonly challengeExpiresInMs: number
  readonly factorExpiresInMs: number
  readonly mostEnrolled: number
  readonly mostVerified: number
  /** 0: no limit. */
  readonly requestsPerMinute: number
  readonly phoneOtpLength: number
  readonly phoneMaxFrequencyMs: number
  readonly phoneTemplate: string
}

export function toMfa(settings: Settings<typeof mfa.variables>, check: Check): MfaConfig {
  const { totpEnroll, totpVerify, phoneEnroll, phoneVerify, ...others } = settings
  const { recoveryCodesEnroll, recoveryCodesVerify, webAuthnEnroll, webAuthnVerify, ...rest } =
    others
  const isLengthRight = rest.phoneOtpLength >= 6 && rest.phoneOtpLength <= 10
  if (!isLengthRight) {
    check.note(`${check.nameOf(mfa.variables.phoneOtpLength)} must be from 6 to 10: 6 is used`)
  }
  noteIfOff(mfa.variables.requestsPerMinute, rest.requestsPerMinute, check)
  checkTextTemplate(mfa.variables.phoneTemplate, rest.phoneTemplate, check)
  for (const name of [
    'challengeExpiresInMs',
    'factorExpiresInMs',
    'phoneMaxFrequencyMs',
  ] as const) {
    checkDuration(mfa.variables[name], rest[name], tenYears, check)
  }
  return {
    ...rest,
    phoneOtpLength: isLengthRight ? rest.phoneOtpLength : 6,
    totp: { enroll: totpEnroll, verify: totpVerify },
    phone: { enroll: phoneEnroll, verify: phoneVerify },
    webAuthn: { enroll: webAuthnEnroll, verify: webAuthnVerify },
    recoveryCodes: { enroll: recoveryCodesEnroll, verify: recoveryCodesVerify },
  }
}
