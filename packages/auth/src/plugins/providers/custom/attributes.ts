import type { Metadata } from '../../../stored-json.ts'
import type { ExternalProfile } from '../oauth/external-profile.ts'
import { isTrue, toOneEmail, toProfile } from '../oauth/profile-parts.ts'
import type { JsonObject } from '../oauth/provider-http.ts'

export interface AttributeRules {
  /** Our claim → the name of a claim of the provider, or a fixed value that is not a string. */
  readonly attribute_mapping: Metadata
  /** Claims of the provider that are stored unchanged in `custom_claims`. */
  readonly custom_claims_allowlist: readonly string[]
}

/** The claims of OpenID Connect that are stored, if the provider sends them. */
const storedClaims = [
  ...['given_name', 'family_name', 'middle_name', 'nickname', 'preferred_username', 'user_name'],
  ...['full_name', 'avatar_url', 'profile', 'website', 'gender', 'birthdate', 'zoneinfo', 'locale'],
] as const

/** @throws {ProfileError} when a claim has the wrong type. */
export function toCustomProfile(
  user: JsonObject,
  issuer: string,
  { attribute_mapping: mapping, custom_claims_allowlist: allowed }: AttributeRules,
): ExternalProfile {
  const mapped: Record<string, unknown> = { ...user }
  for (const [target, source] of Object.entries(mapping)) {
    if (typeof source !== 'string') mapped[target] = source
    else if (Object.hasOwn(user, source)) mapped[target] = user[source]
  }
  const { sub, email, name, picture } = mapped
  // `email_verified` is about the claim `email`, and not about another one that is used instead.
  const isVerified = isTrue(user['email_verified']) && email === user['email']
  const pick = (names: readonly string[], from: JsonObject) =>
    Object.fromEntries(
      names.filter((key) => Object.hasOwn(from, key)).map((key) => [key, from[key]]),
    )
  return toProfile({
    id: sub,
    issuer,
    emails: toOneEmail(email, isVerified),
    name,
    picture,
    more: pick(storedClaims, mapped),
    custom: pick(allowed, user),
  })
}
