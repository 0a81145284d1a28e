import { defineDecision } from './hook.ts'

export interface PasswordAttempt {
  readonly user_id: string
  readonly valid: boolean
}

export const passwordVerificationAttempt = defineDecision<PasswordAttempt>({
  variable: 'PASSWORD_VERIFICATION_ATTEMPT',
  purpose: 'decides on each attempt to verify a password',
  name: 'password-verification',
})
