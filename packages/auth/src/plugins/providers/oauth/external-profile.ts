import { parseEmail } from '../../../addresses.ts'
import { countStoredBytes, findUnstorable, type Json, type Metadata } from '../../../stored-json.ts'

/** An email address in a provider's profile. */
export interface ExternalEmail {
  readonly email: string
  /** Whether the provider has verified that the address belongs to the user. */
  readonly isVerified: boolean
  readonly isPrimary: boolean
}

/** A user's profile at a provider. */
export interface ExternalProfile {
  /** The provider's ID of the user, which is never reused or changed. */
  readonly id: string
  readonly emails: readonly ExternalEmail[]
  /**
   * Claims by their OpenID Connect or Supabase name: `name`, `picture`, `user_name`,
   * `custom_claims`, …
   */
  readonly claims: Metadata
}

/** A field of a profile has the wrong type or format; the message names the field. */
export class ProfileError extends Error {
  override readonly name = 'ProfileError'
}

/** Drops invalid addresses and merges duplicates: a duplicate counts as verified if either one is. */
export function toEmails(emails: readonly ExternalEmail[]): readonly ExternalEmail[] {
  const kept = new Map<string, ExternalEmail>()
  for (const { email: text, isVerified, isPrimary } of emails) {
    const email = readEmail(text)
    if (email === undefined) continue
    const before = kept.get(email)
    kept.set(email, {
      email,
      isVerified: isVerified || (before?.isVerified ?? false),
      isPrimary: isPrimary || (before?.isPrimary ?? false),
    })
  }
  return [...kept.values()]
}

function readEmail(text: string): string | undefined {
  try {
    return parseEmail(text)
  } catch {
    return undefined
  }
}

/** The address for the account: verified addresses come first, then the primary one. */
export function findMainEmail(emails: readonly ExternalEmail[]): ExternalEmail | undefined {
  const rank = ({ isVerified, isPrimary }: ExternalEmail) => +isVerified * 2 + +isPrimary
  return emails.toSorted((one, other) => rank(other) - rank(one))[0]
}

/**
 * The data stored with the identity. If the claims are too large together, the largest are left
 * out, so that a large profile does not prevent the sign-in.
 */
export function toIdentityData(profile: ExternalProfile, mostBytes: number): Metadata {
  const main = findMainEmail(profile.emails)
  const { email: _, ...claims } = profile.claims
  const fixed = {
    sub: profile.id,
    provider_id: profile.id,
    ...(main && { email: main.email }),
    email_verified: main?.isVerified ?? false,
  }
  const always = { phone_verified: false, ...fixed }
  return {
    phone_verified: false,
    ...toSmallClaims(toStorableClaims(claims), mostBytes - countStoredBytes(always)),
    ...fixed,
  }
}

function toSmallClaims(claims: Metadata, mostBytes: number): Metadata {
  const sized = Object.entries(claims).map(
    ([key, value]) => [key, value, countStoredBytes({ [key]: value })] as const,
  )
  let total = sized.reduce((sum, [, , bytes]) => sum + bytes, 0)
  const dropped = new Set<string>()
  for (const [key, , bytes] of sized.toSorted(([, , one], [, , other]) => other - one)) {
    if (total <= mostBytes) break
    dropped.add(key)
    total -= bytes
  }
  return Object.fromEntries(Object.entries(claims).filter(([key]) => !dropped.has(key)))
}

/** The profile without values that the database cannot store. */
export function toStorableProfile(profile: ExternalProfile): ExternalProfile {
  return { ...profile, claims: toStorableClaims(profile.claims) }
}

/** Removes empty values and values that PostgreSQL cannot store. */
function toStorableClaims(claims: Metadata): Metadata {
  const isThere = (value: Json) => value !== null && value !== '' && !isEmptyObject(value)
  const kept = Object.entries(claims).filter(
    ([, value]) => isThere(value) && findUnstorable(value) === undefined,
  )
  return Object.fromEntries(kept)
}

function isEmptyObject(value: Json): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}
