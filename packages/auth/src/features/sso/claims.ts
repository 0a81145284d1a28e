import { parseEmail } from '../../addresses.ts'
import { ApiError } from '../../errors.ts'
import type { ExternalProfile } from '../../plugins/providers/oauth/external-profile.ts'
import type { Assertion } from '../../saml/assertion.ts'
import { nameIdFormats } from '../../saml/service-provider.ts'
import type { Json, Metadata } from '../../stored-json.ts'
import type { AttributeMapping, AttributeRule } from './statements/providers.ts'

/**
 * What the assertion says about the user: the persistent ID, the address, and the claims that the
 * mapping selects.
 * @throws {ApiError}
 */
export function toProfile(
  assertion: Assertion,
  { keys = {} }: AttributeMapping,
  issuer: string,
): ExternalProfile {
  const id = findUserId(assertion)
  if (id === undefined) {
    throw new ApiError(
      'saml_assertion_no_user_id',
      `SAML Assertion did not contain a persistent Subject Identifier attribute or Subject NameID uniquely identifying this user, of at most ${longestId} bytes`,
    )
  }
  const mapped = Object.entries(keys).flatMap(([key, rule]) => {
    const value = readClaim(assertion, rule)
    return value === undefined ? [] : [[key, value] as const]
  })
  const claims: Metadata = Object.fromEntries(mapped)
  const email = requireEmail(claims['email'] ?? findEmail(assertion))
  return {
    id,
    emails: [{ email, isVerified: true, isPrimary: true }],
    claims: { ...groupClaims(claims), iss: issuer },
  }
}

/** Longer than any in use, and short enough for an index. In bytes. */
const longestId = 1_024

const subjectId = 'urn:oasis:names:tc:SAML:attribute:subject-id'

/** See SAML Subject Identifier Attributes, section 3.3; otherwise a NameID that stays the same. */
function findUserId(assertion: Assertion): string | undefined {
  const [named = readNameId(assertion)] = findValues(assertion, subjectId)
  return named !== undefined && Buffer.byteLength(named) <= longestId ? named : undefined
}

/** Only letters of ASCII become lower case: U+212A, the Kelvin sign, would otherwise become a k. */
function readNameId({ nameId }: Assertion): string | undefined {
  if (nameId === undefined || nameId.format === nameIdFormats.transient) return undefined
  if (nameId.format !== nameIdFormats.emailAddress) return nameId.value
  return nameId.value.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
}

/** The values of all attributes with the name or the friendly name, in any case. */
function findValues({ attributes }: Assertion, name: string): readonly string[] {
  const wanted = name.toLowerCase()
  return attributes
    .filter(
      (attribute) =>
        attribute.name.toLowerCase() === wanted || attribute.friendlyName.toLowerCase() === wanted,
    )
    .flatMap(({ values }) => values)
    .filter((value) => value !== '')
}

/** The first name with values counts. */
function readClaim(assertion: Assertion, rule: AttributeRule): Json | undefined {
  for (const name of [...(rule.name ? [rule.name] : []), ...(rule.names ?? [])]) {
    const values = findValues(assertion, name)
    if (values.length > 0) return rule.array ? values : values[0]
  }
  return rule.default
}

const emailNames = [
  'urn:oid:0.9.2342.19200300.100.1.3',
  'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress',
  'http://schemas.xmlsoap.org/claims/EmailAddress',
  'mail',
  'email',
]

function findEmail(assertion: Assertion): string | undefined {
  for (const name of emailNames) {
    const [email] = findValues(assertion, name)
    if (email !== undefined) return email
  }
  const { nameId } = assertion
  return nameId?.format === nameIdFormats.emailAddress ? nameId.value : undefined
}

function requireEmail(value: Json | undefined): string {
  if (typeof value !== 'string' || value === '') {
    throw new ApiError(
      'saml_assertion_no_email',
      'SAML Assertion does not contain an email address',
    )
  }
  return parseEmail(value)
}

/** Claims of OpenID Connect and of Supabase Auth. All others are custom claims. */
const standardClaims: ReadonlySet<string> = new Set([
  ...['name', 'family_name', 'given_name', 'middle_name', 'nickname', 'preferred_username'],
  ...['profile', 'picture', 'website', 'gender', 'birthdate', 'zoneinfo', 'locale', 'updated_at'],
  ...['phone', 'full_name', 'avatar_url', 'user_name', 'slug', 'email'],
])

/** The mapping must not set claims that this server vouches for. */
const ownClaims: ReadonlySet<string> = new Set([
  ...['iss', 'sub', 'aud', 'iat', 'exp', 'provider_id', 'email_verified', 'phone_verified'],
])

function groupClaims(claims: Metadata): Metadata {
  const given = Object.entries(claims).filter(([key]) => !ownClaims.has(key))
  const custom = given.filter(([key]) => !standardClaims.has(key))
  return {
    ...Object.fromEntries(given.filter(([key]) => standardClaims.has(key))),
    ...(custom.length > 0 && { custom_claims: Object.fromEntries(custom) }),
  }
}
