import { boolean, duration, integer, string } from '@portcullis/service-kit/settings/env'
import { parsePhone } from '../../addresses.ts'
import { checkDuration, checkTextTemplate, tenYears } from '../../config/checks.ts'
import { unlessBlank } from '../../config/variables.ts'
import { ApiError, invalid } from '../../errors.ts'
import {
  findTestCode,
  parseTextChannel,
  requireFactorGateway,
  toTextPayload,
} from '../../messages/requests/phone-gateway.ts'
import { defineFactorKind } from './factor-kind.ts'

/** Codes sent by text message. */
export const phone = defineFactorKind({
  label: 'Phone',
  method: 'mfa/phone',
  codes: { enroll: 'mfa_phone_enroll_not_enabled', verify: 'mfa_phone_verify_not_enabled' },
  wrongAnswer: 'Invalid MFA Phone code entered',
  isGuessable: true,
  variables: {
    enroll: boolean(
      'AUTH_MFA_PHONE_ENROLL_ENABLED',
      false,
      'Whether users may enroll phone factors. Requires an SMS gateway',
    ),
    verify: boolean(
      'AUTH_MFA_PHONE_VERIFY_ENABLED',
      false,
      'Whether codes for phone factors are sent and accepted',
    ),
    otpLength: integer('AUTH_MFA_PHONE_OTP_LENGTH', 6, 'Number of digits in a code, from 6 to 10'),
    maxFrequencyMs: duration(
      'AUTH_MFA_PHONE_MAX_FREQUENCY',
      '1m',
      'Minimum interval between two messages to the same phone factor',
      { bareSeconds: true },
    ),
    template: unlessBlank(
      string(
        'AUTH_MFA_PHONE_TEMPLATE',
        'Your code is {{ .Code }}',
        'Text of the message that contains the code',
      ),
    ),
  },
  needs: 'text messages',

  toSettings(settings, variables, check) {
    const { otpLength, maxFrequencyMs, template } = settings
    const isLengthRight = otpLength >= 6 && otpLength <= 10
    if (!isLengthRight) {
      check.note(`${check.nameOf(variables.otpLength)} must be from 6 to 10: 6 is used`)
    }
    checkTextTemplate(variables.template, template, check)
    checkDuration(variables.maxFrequencyMs, maxFrequencyMs, tenYears, check)
    return { ...settings, otpLength: isLengthRight ? otpLength : 6 }
  },

  enroll(_services, { user, phone: text = '' }) {
    if (text === '') throw invalid('Phone number required to enroll Phone factor')
    const number = parsePhone(text)
    if (user.factors.some((factor) => factor.phone === number && factor.status === 'verified')) {
      throw new ApiError(
        'mfa_verified_factor_exists',
        'A verified phone factor already exists, unenroll the existing factor to continue',
      )
    }
    return { phone: number, shown: { phone: number } }
  },

  challenge(services, { challengeId, factor, channel }, { otpLength, maxFrequencyMs }) {
    const { config, oneTimeTokens } = services
    const recipient = factor.phone ?? ''
    requireFactorGateway(services, recipient)
    const textChannel = parseTextChannel(services, channel)
    const testCode = findTestCode(services, recipient)
    const digits = testCode ?? oneTimeTokens.create(otpLength, false).digits
    const isCheckedByGateway = services.gatewayCodes !== undefined && testCode === undefined
    return {
      // The hash is bound to the challenge, so a code from another challenge does not match.
      otpHash: isCheckedByGateway
        ? oneTimeTokens.hashApproval(challengeId)
        : oneTimeTokens.hashDigits(digits, challengeId),
      ...(testCode === undefined && {
        message: {
          kind: 'mfa_code',
          recipient,
          payload: toTextPayload(digits, textChannel),
          expires_in_seconds: config.mfa.challengeExpiresInMs / 1_000,
        },
        cooldownMs: maxFrequencyMs,
      }),
      shown: {},
    }
  },

  checkForm({ code }) {
    if (code.trim() === '') throw invalid('Code needs to be non-empty')
  },

  async check({ oneTimeTokens, gatewayCodes }, { challengeId, factor, answer, challenge }) {
    if (challenge.otp_hash === null) return undefined
    const stored = challenge.otp_hash.toString('hex')
    if (oneTimeTokens.findApprovalHashes(challengeId).includes(stored)) {
      const isRight = await gatewayCodes?.isRight(factor.phone ?? '', answer.code.trim())
      return isRight ? {} : undefined
    }
    // Both values are HMACs, so the timing of the comparison reveals nothing about the code.
    return oneTimeTokens.findHashes(answer.code.trim(), challengeId).includes(stored)
      ? {}
      : undefined
  },
})
