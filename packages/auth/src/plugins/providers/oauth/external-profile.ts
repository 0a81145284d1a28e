import { parseEmail } from '../../../features/users/addresses.ts'
import {
  countStoredBytes,
  findUnstorable,
  type Json,
  type Metadata,
} from '../../../features/users/metadata.ts'

/** An address as a provider knows it. */
export interface ExternalEmail {
  readonly email: string
  /** Whether the provider has made sure that it belongs to the user. */
  readonly isVerified: boolean
  readonly isPrimary: boolean
}

/** Who somebody is at a provider. */
export interface ExternalProfile {
  /** The provider's own id of the user: never reused, never changed. */
  readonly id: string
  readonly emails: readonly ExternalEmail[]
  /** By the names of reference 5.3: `name`, `picture`, `user_name`, `custom_claims`, … */
  readonly claims: Metadata
}

/** A field of a profile that is not what it must be; the message names the field. */
export class ProfileError extends Error {
  override readonly name = 'ProfileError'
}

/** Addresses that are none are dropped, and of one that comes twice the verified one stays. */
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

/** The address an account goes by: the primary one, but a verified one before others. */
export function findMainEmail(emails: readonly ExternalEmail[]): ExternalEmail | undefined {
  const rank = ({ isVerified, isPrimary }: ExternalEmail) => +isVerified * 2 + +isPrimary
  return emails.toSorted((one, other) => rank(other) - rank(one))[0]
}

/**
 * What is stored with the identity (reference 5.3). Nobody is kept from signing in by what a provider
 * says about them: of claims that are too large together, the largest are left out.
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

/** The same profile, as it waits for somebody in the database. */
export function toStorableProfile(profile: ExternalProfile): ExternalProfile {
  return { ...profile, claims: toStorableClaims(profile.claims) }
}

/** Without what is empty, and without what PostgreSQL cannot store. */
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
