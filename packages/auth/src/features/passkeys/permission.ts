import { ApiError, invalid } from '../../errors.ts'
import type { Services } from '../../services.ts'
import { isBelowLevel, type Person } from '../factors/assurance-level.ts'

/** @throws {ApiError} */
export function requirePasskeys({ config }: Services): void {
  if (config.passkeys.enabled) return
  throw new ApiError('passkey_disabled', 'Passkeys are disabled')
}

/**
 * A passkey is a way in. Who has only stolen a password must not make one, nor lock the owner out.
 * @throws {ApiError}
 */
export function requireManager(person: Person): void {
  if (!isBelowLevel(person)) return
  throw new ApiError(
    'insufficient_aal',
    'AAL2 session is required to manage passkeys when MFA is enabled',
  )
}

/** @throws {ApiError} */
export function requireRegistrant(person: Person): void {
  if (person.is_anonymous) {
    throw new ApiError('no_authorization', 'Anonymous user not allowed to perform these actions', {
      status: 403,
    })
  }
  if (person.is_sso_user) throw invalid('SSO users cannot register passkeys', { status: 422 })
  requireManager(person)
}
