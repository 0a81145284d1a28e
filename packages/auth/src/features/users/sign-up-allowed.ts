import { isTaken } from '../../db/database-errors.ts'
import { ApiError } from '../../errors.ts'
import type { Services } from '../../services.ts'
import type { UserRow } from './statements/user-row.ts'

/** Otherwise only invitations and administrators create users. */
export function isSignupAllowed({ config: { site } }: Pick<Services, 'config'>): boolean {
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

/** What a request for a code or link does for a user who does not exist; `ignore` does not reveal that. */
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
 * Signs up a user who asks for a code or link, unless they are known.
 * @returns the known user; undefined where the address or number belongs to another audience.
 * @throws {ApiError}
 */
export async function signUpUnlessKnown(
  signUp: SignUpOnDemand,
): Promise<UserRow | 'created' | undefined> {
  const known = await signUp.find()
  if (known !== undefined && mayFinish(signUp.services, known)) return known
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

/** Whether the user of an account may sign in although nothing is confirmed yet. */
export function mayFinish(services: Pick<Services, 'config'>, user: UserRow): boolean {
  const isWanted = user.invited_at !== null || user.admin_data !== null
  return isSignupAllowed(services) || isWanted || !isUnproven(user)
}

/**
 * Whether no user has proven to own the account, so that it may have been created by someone else.
 */
function isUnproven(user: Pick<UserRow, 'email_confirmed_at' | 'phone_confirmed_at'>): boolean {
  return user.email_confirmed_at === null && user.phone_confirmed_at === null
}
