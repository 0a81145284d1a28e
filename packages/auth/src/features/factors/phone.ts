import { ApiError, invalid } from '../../errors.ts'
import { toTextPayload } from '../../messages/requests/phone-codes.ts'
import {
  findTestCode,
  parseTextChannel,
  requireFactorGateway,
} from '../../messages/requests/phone-gateway.ts'
import { parsePhone } from '../users/addresses.ts'
import type { FactorKind } from './factor-kind.ts'

/** Codes in text messages. */
export const phone: FactorKind = {
  label: 'Phone',
  method: 'mfa/phone',
  codes: { enroll: 'mfa_phone_enroll_not_enabled', verify: 'mfa_phone_verify_not_enabled' },
  wrongAnswer: 'Invalid MFA Phone code entered',
  isGuessable: true,
  findSwitch: (config) => config.phone,

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

  challenge(services, { challengeId, factor, channel }) {
    const { config, oneTimeTokens } = services
    const { mfa } = config
    const recipient = factor.phone ?? ''
    requireFactorGateway(services, recipient)
    const textChannel = parseTextChannel(services, channel)
    const testCode = findTestCode(services, recipient)
    const digits = testCode ?? oneTimeTokens.create(mfa.phoneOtpLength, false).digits
    return {
      // Bound to the challenge: a code of another one does not do.
      otpHash: oneTimeTokens.hashDigits(digits, challengeId),
      ...(testCode === undefined && {
        message: {
          kind: 'mfa_code',
          recipient,
          payload: toTextPayload(digits, textChannel),
          expires_in_seconds: mfa.challengeExpiresInMs / 1_000,
        },
        gapMs: mfa.phoneMaxFrequencyMs,
      }),
      shown: {},
    }
  },

  checkForm({ code }) {
    if (code.trim() === '') throw invalid('Code needs to be non-empty')
  },

  check({ oneTimeTokens }, { challengeId, answer, challenge }) {
    if (challenge.otp_hash === null) return undefined
    const stored = challenge.otp_hash.toString('hex')
    // Both sides are of a HMAC: how long it takes to compare them tells nothing.
    return oneTimeTokens.findHashes(answer.code.trim(), challengeId).includes(stored)
      ? {}
      : undefined
  },
}
