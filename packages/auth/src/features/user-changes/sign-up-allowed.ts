import { isTaken } from '../../db/database-errors.ts'
import { ApiError } from '../../errors.ts'
import type { Services } from '../../services.ts'
import type { UserRow } from '../users/statements/user-row.ts'

/** If not, only administrators can create or invite users. */
function isSignupAllowed({ config: { site } }: Pick<Services, 'config'>): boolean {
  return !site.disableSignup
}

/** @throws {ApiError} */
export function checkSignupAllowed(services: Pick<Services, 'config'>): void {
  if (isSignupAllowed(services)) return
  throw new ApiError('signup_disabled', 'Signups not allowed for this instance')
}

/**
 * Whether requests for a code or link get the same response for known and unknown users while
 * sign-up is disabled. Supabase Auth answers with an error to unknown users, which the operator can
 * choose.
 */
export function hidesDisabledSignup({ config: { site, api } }: Pick<Services, 'config'>): boolean {
  return site.disableSignup && api.compatMode !== 'upstream'
}

/**
 * What a request for a code or link does if the user does not exist. With `ignore`, nothing is sent
 * and the response is the same as for a known user.
 */
export type Newcomer = 'create' | 'ignore' | 'refuse'

interface SignUpOnDemand {
  readonly services: Pick<Services, 'config'>
  readonly newcomer: Newcomer
  /** Violated by a second user with the same address or number. */
  readonly constraint: 'users_email' | 'users_phone'
  find(): Promise<UserRow | undefined>
  create(): Promise<void>
}

/**
 * Signs up a user who requests a code or link, unless they are known.
 * @returns the known user; undefined when the address or number belongs to another audience.
 * @throws {ApiError}
 */
export async function signUpUnlessKnown(
  signUp: SignUpOnDemand,
): Promise<UserRow | 'created' | undefined> {
  const known = await signUp.find()
  if (known !== undefined && maySignIn(signUp.services, known)) return known
  if (signUp.newcomer === 'refuse') {
    throw new ApiError('otp_disabled', 'Signups not allowed for otp')
  }
  checkSignupAllowed(signUp.services)
  try {
    await signUp.create()
    return 'created'
  } catch (error) {
    if (!isTaken(error, signUp.constraint)) throw error
    // Another request has created the user since the first lookup.
    return signUp.find()
  }
}

/**
 * Whether a known user may sign in. While sign-ups are disabled, an account without a confirmed
 * address or phone number can be used only if an administrator created it or invited the user.
 */
export function maySignIn(services: Pick<Services, 'config'>, user: UserRow): boolean {
  const isByAdmin = user.invited_at !== null || user.admin_data !== null
  return isSignupAllowed(services) || isByAdmin || !isUnproven(user)
}

/** Whether nothing is confirmed, so that someone else may have created the account. */
function isUnproven(user: Pick<UserRow, 'email_confirmed_at' | 'phone_confirmed_at'>): boolean {
  return user.email_confirmed_at === null && user.phone_confirmed_at === null
}
