import { boolean } from '@portcullis/service-kit/settings/env'
import type { Secret } from 'otpauth'
import { invalid } from '../../errors.ts'
import { defineFactorKind } from './factor-kind.ts'

const periodSeconds = 30
const settings = { algorithm: 'SHA1', digits: 6, period: periodSeconds } as const
const secretBytes = 20
/** A QR code holds at most 2,953 bytes, and cameras read smaller ones more reliably. */
const longestUri = 2_000

/** Codes from an authenticator app (RFC 6238). */
export const totp = defineFactorKind({
  label: 'TOTP',
  method: 'totp',
  codes: { enroll: 'mfa_totp_enroll_not_enabled', verify: 'mfa_totp_verify_not_enabled' },
  wrongAnswer: 'Invalid TOTP code entered',
  isGuessable: true,
  variables: {
    enroll: boolean('AUTH_MFA_TOTP_ENROLL_ENABLED', true, 'Whether users may enroll TOTP factors'),
    verify: boolean('AUTH_MFA_TOTP_VERIFY_ENABLED', true, 'Whether TOTP codes are accepted'),
  },

  async enroll({ factorSecrets, config }, { factorId, user, issuer }) {
    const [{ Secret }, { renderSVG }] = await Promise.all([loadOtp(), import('uqr')])
    const secret = new Secret({ size: secretBytes })
    const uri = toUri(
      issuer ?? new URL(config.site.url).host,
      user.email ?? user.phone ?? user.id,
      secret,
    )
    if (uri.length > longestUri) throw invalid('The issuer is too long')
    return {
      secret: factorSecrets.seal(secret.bytes, factorId),
      shown: { totp: { qr_code: renderSVG(uri), secret: secret.base32, uri } },
    }
  },

  challenge: () => ({ shown: {} }),

  checkForm({ code }) {
    if (toDigits(code) === '') throw invalid('Code needs to be non-empty')
  },

  async check({ factorSecrets, now }, { factor, answer, challenge }) {
    if (challenge.secret === null) return undefined
    const { Secret, TOTP } = await loadOtp()
    const bytes = factorSecrets.open(challenge.secret, factor.id)
    const secret = new Secret({ buffer: new Uint8Array(bytes).buffer })
    const nowMs = now()
    const token = toDigits(answer.code)
    if (!/^[0-9]{6}$/.test(token)) return undefined
    const delta = new TOTP({ ...settings, secret }).validate({ token, timestamp: nowMs, window: 1 })
    if (delta === null) return undefined
    const step = Math.floor(nowMs / 1_000 / periodSeconds) + delta
    // A code is accepted only once, so that an observer cannot reuse it (RFC 6238, section 5.2).
    return challenge.last_used_step !== null && step <= challenge.last_used_step
      ? undefined
      : { step }
  },
})

/** Imported on first use, because most commands only read the settings in this file. */
function loadOtp() {
  return import('otpauth')
}

/** Authenticator apps show a space in the middle of a code. */
function toDigits(code: string): string {
  return code.replaceAll(/\s/g, '')
}

function toUri(issuer: string, account: string, secret: Secret): string {
  const name = encodeURIComponent(issuer)
  const parameters = [
    `algorithm=${settings.algorithm}`,
    `digits=${settings.digits}`,
    `issuer=${name}`,
    `period=${settings.period}`,
    `secret=${secret.base32}`,
  ]
  return `otpauth://totp/${name}:${encodeURIComponent(account)}?${parameters.join('&')}`
}
