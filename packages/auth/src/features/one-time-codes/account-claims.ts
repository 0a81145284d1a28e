import type { AccountClaim } from '../../messages/statements/request-parts.ts'
import type { UserRow } from '../users/statements/user-row.ts'

/**
 * Of a request that says nothing about the account: a link to sign in or to recover it. What somebody
 * put into the account before, without having proven anything, goes when the link is used.
 */
export const claimsNothing: AccountClaim = {}

/** Whether nobody has proven yet to own the account: a stranger may have made it. */
export function isUnproven(
  user: Pick<UserRow, 'email_confirmed_at' | 'phone_confirmed_at'>,
): boolean {
  return user.email_confirmed_at === null && user.phone_confirmed_at === null
}
