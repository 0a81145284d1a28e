import { ApiError } from '../../errors.ts'
import type { Services } from '../../services.ts'
import type { UserRow } from './statements/user-row.ts'

/** Otherwise only invitations and administrators make users. */
export function isSignupAllowed({ config: { site } }: Pick<Services, 'config'>): boolean {
  return !site.disableSignup
}

/** @throws {ApiError} */
export function checkSignupAllowed(services: Pick<Services, 'config'>): void {
  if (isSignupAllowed(services)) return
  throw new ApiError('signup_disabled', 'Signups not allowed for this instance')
}

/** Whether somebody who has an account may come in, though they have not confirmed anything yet. */
export function mayFinish(services: Pick<Services, 'config'>, user: UserRow): boolean {
  const isWanted = user.invited_at !== null || user.admin_data !== null
  return isSignupAllowed(services) || isWanted || !isUnproven(user)
}

/** Whether nobody has proven yet to own the account: a stranger may have made it. */
function isUnproven(user: Pick<UserRow, 'email_confirmed_at' | 'phone_confirmed_at'>): boolean {
  return user.email_confirmed_at === null && user.phone_confirmed_at === null
}
