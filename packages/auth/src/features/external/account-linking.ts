import { ApiError } from '../../errors.ts'
import {
  type ExternalEmail,
  type ExternalProfile,
  findMainEmail,
} from '../../plugins/providers/oauth/external-profile.ts'
import type { UserRow } from '../users/statements/user-row.ts'
import type { CandidateRow } from './statements/external-accounts.ts'

/** Whose account a profile belongs to (reference 6.9). */
export type Belonging =
  /** Somebody has been here with it before. */
  | { readonly kind: 'known'; readonly user: UserRow }
  /** Somebody has an account with an address that the provider has verified. */
  | { readonly kind: 'alike'; readonly user: UserRow }
  /** Without an address where it belongs to somebody else. */
  | { readonly kind: 'new'; readonly email: ExternalEmail | undefined }

/**
 * Only addresses that the provider has verified link to anybody, and only to addresses that are
 * verified too or to accounts that nobody has confirmed: who says to own an address gets nothing by
 * it. @throws {ApiError}
 */
export function findBelonging(
  candidates: readonly CandidateRow[],
  profile: ExternalProfile,
  audience: string,
): Belonging {
  const known = candidates.find(({ has_identity: isKnown }) => isKnown)
  if (known !== undefined) return { kind: 'known', user: known }
  const alike = candidates.filter(
    (user) => user.aud === audience && (user.has_verified_email || user.has_verified_identity),
  )
  if (alike.length > 1) {
    throw new ApiError(
      'unexpected_failure',
      'Multiple accounts with the same email address in the same linking domain detected: default',
    )
  }
  const [user] = alike
  if (user !== undefined) return { kind: 'alike', user }
  const main = findMainEmail(profile.emails)
  const isTaken = candidates.some(({ email }) => email === main?.email)
  return { kind: 'new', email: isTaken ? undefined : main }
}

/** What is to be done about the address of an account before its owner may come in. */
interface Standing {
  /** Nobody has proven to be this user: what others left there goes. */
  readonly takesOver: boolean
  readonly confirms: boolean
  /** The address of the account from now on; null: as it is. */
  readonly email: string | null
  /** A message must be answered first. */
  readonly mustConfirm: boolean
}

const asItIs: Standing = { takesOver: false, confirms: false, email: null, mustConfirm: false }

interface StandingRules {
  readonly autoconfirms: boolean
  readonly isEmailOptional: boolean
  /** Who has the addresses, if not the user. */
  readonly isTaken: (email: string) => boolean
}

/** Reference 6.9, step 5, for an account that exists. */
export function findStanding(
  { kind, user }: Exclude<Belonging, { kind: 'new' }>,
  { emails }: ExternalProfile,
  { autoconfirms, isEmailOptional, isTaken }: StandingRules,
): Standing {
  if (user.email_confirmed_at !== null) return asItIs
  // With a number of their own they have proven who they are, though not by the address.
  if (kind === 'known' && user.phone_confirmed_at !== null) return asItIs
  const isVerified = (email: string | null) =>
    emails.some((each) => each.email === email && each.isVerified)
  if (user.email !== null && (isVerified(user.email) || autoconfirms)) {
    return { ...asItIs, takesOver: true, confirms: true }
  }
  const main = findMainEmail(emails)
  if (main?.isVerified) {
    // An address that somebody else has stays theirs; this account then has none.
    if (isTaken(main.email)) return asItIs
    const takesOver = user.email !== null
    return { takesOver, confirms: true, email: main.email, mustConfirm: false }
  }
  if (user.email !== null) return { ...asItIs, mustConfirm: true }
  const isFine = autoconfirms || isEmailOptional
  return { ...asItIs, mustConfirm: !isFine }
}
