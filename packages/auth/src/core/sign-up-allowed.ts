import { ApiError } from '../errors.ts'
import type { Services } from './services.ts'

/** @throws {ApiError} where only invitations and administrators make users. */
export function checkSignupAllowed({ config: { site } }: Pick<Services, 'config'>): void {
  if (!site.disableSignup) return
  throw new ApiError('signup_disabled', 'Signups not allowed for this instance')
}
