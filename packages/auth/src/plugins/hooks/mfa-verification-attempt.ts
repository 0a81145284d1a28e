import { defineDecision } from './hook.ts'

export interface FactorAttempt {
  readonly user_id: string
  readonly factor_id: string
  readonly factor_type: string
  readonly valid: boolean
}

export const mfaVerificationAttempt = defineDecision<FactorAttempt>({
  variable: 'MFA_VERIFICATION_ATTEMPT',
  purpose: 'decides on each attempt to verify a second factor',
  name: 'mfa-verification',
})
