import { ApiError } from '../../errors.ts'
import {
  type ExternalEmail,
  type ExternalProfile,
  findMainEmail,
} from '../../plugins/providers/oauth/external-profile.ts'
import type { UserRow } from '../users/statements/user-row.ts'
import type { CandidateRow } from './statements/external-accounts.ts'

/** Which account a profile belongs to. */
export type AccountMatch =
  /** The user has this identity. */
  | { readonly kind: 'known'; readonly user: UserRow }
  /** The user has an address that the provider has verified. */
  | { readonly kind: 'same email'; readonly user: UserRow }
  /** There is no such account. `email` is undefined when another user has the address. */
  | { readonly kind: 'new'; readonly email: ExternalEmail | undefined }

/**
 * Only addresses that the provider has verified are matched, and only with addresses that are
 * verified too or with accounts that have never been confirmed. Merely claiming to own an address
 * therefore gives no access. @throws {ApiError}
 */
export function matchAccount(
  candidates: readonly CandidateRow[],
  profile: ExternalProfile,
  audience: string,
): AccountMatch {
  const known = candidates.find(({ has_identity: isKnown }) => isKnown)
  if (known !== undefined) return { kind: 'known', user: known }
  const matching = candidates.filter(
    (user) => user.aud === audience && (user.has_verified_email || user.has_verified_identity),
  )
  if (matching.length > 1) {
    throw new ApiError(
      'unexpected_failure',
      'Multiple accounts with the same email address in the same linking domain detected: default',
    )
  }
  const [user] = matching
  if (user !== undefined) return { kind: 'same email', user }
  const main = findMainEmail(profile.emails)
  const isTaken = candidates.some(({ email }) => email === main?.email)
  return { kind: 'new', email: isTaken ? undefined : main }
}

/** What must happen to the address of an account before the user may sign in. */
interface EmailDecision {
  /**
   * Whether the address of the account was never confirmed, so that someone else may have created
   * the account. Its password, identities and sessions are then removed.
   */
  readonly takesOver: boolean
  readonly confirms: boolean
  /** The new address of the account; null when it does not change. */
  readonly email: string | null
  /** Whether the user must first confirm the address by email. */
  readonly mustConfirm: boolean
}

const unchanged: EmailDecision = {
  takesOver: false,
  confirms: false,
  email: null,
  mustConfirm: false,
}

interface EmailRules {
  readonly autoconfirms: boolean
  readonly isEmailOptional: boolean
  /** Whether another user has the address. */
  readonly isTaken: (email: string) => boolean
}

/** Decides what happens to the address of an existing account. */
export function decideEmail(
  { kind, user }: Exclude<AccountMatch, { kind: 'new' }>,
  { emails }: ExternalProfile,
  { autoconfirms, isEmailOptional, isTaken }: EmailRules,
): EmailDecision {
  if (user.email_confirmed_at !== null) return unchanged
  // A confirmed phone number proves who owns the account, even if the address is unconfirmed.
  if (kind === 'known' && user.phone_confirmed_at !== null) return unchanged
  const isVerified = (email: string | null) =>
    emails.some((each) => each.email === email && each.isVerified)
  if (user.email !== null && (isVerified(user.email) || autoconfirms)) {
    return { ...unchanged, takesOver: true, confirms: true }
  }
  const main = findMainEmail(emails)
  if (main?.isVerified) {
    // An address that another user has stays with that user; this account does not change.
    if (isTaken(main.email)) return unchanged
    const takesOver = user.email !== null
    return { takesOver, confirms: true, email: main.email, mustConfirm: false }
  }
  if (user.email !== null) return { ...unchanged, mustConfirm: true }
  const maySignIn = autoconfirms || isEmailOptional
  return { ...unchanged, mustConfirm: !maySignIn }
}
