import { isStorableText, type Json, type Metadata } from '../../../stored-json.ts'
import { type ExternalEmail, type ExternalProfile, ProfileError } from './external-profile.ts'
import { isObject, type JsonObject } from './provider-http.ts'

export interface ProfileParts {
  /** A string or an integer. */
  readonly id: unknown
  /** The API's base URL, or the issuer. */
  readonly issuer: string
  readonly emails: ExternalProfile['emails']
  /** Also used as `full_name`, unless `more` contains it. */
  readonly name?: unknown
  readonly picture?: unknown
  /** Additional claims by their OpenID Connect or Supabase name. */
  readonly more?: Readonly<Record<string, unknown>>
  readonly custom?: Readonly<Record<string, unknown>>
}

/**
 * Builds the profile that all providers have in common.
 * @throws {ProfileError} when a field has the wrong type.
 * @throws {TypeError} when the ID is missing.
 */
export function toProfile({ id, issuer, emails, ...parts }: ProfileParts): ExternalProfile {
  const { name, picture, more = {}, custom = {} } = parts
  const known = { name, full_name: name, picture, avatar_url: picture, ...more }
  for (const [field, value] of Object.entries(known)) readText(field, value)
  return {
    id: readUserId(id),
    emails,
    claims: toJson({ iss: issuer, ...known, custom_claims: toJson(custom) }),
  }
}

/** OpenID Connect limits `sub` to this length, and index entries are limited in size. */
const longestUserId = 255

function readUserId(id: unknown): string {
  if (id === undefined || id === null || id === '') throw new TypeError('The profile has no ID')
  // JSON.parse has rounded larger numbers, so they are not the provider's ID.
  const text = Number.isSafeInteger(id) ? `${id}` : id
  if (typeof text !== 'string') throw new ProfileError('the user id must be a string')
  if (text.length > longestUserId || !isStorableText(text)) {
    throw new ProfileError(`the user id must be a text of at most ${longestUserId} characters`)
  }
  return text
}

/** Undefined when the provider sends no value. @throws {ProfileError} */
function readText(field: string, value: unknown): string | undefined {
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value === 'string') return value
  throw new ProfileError(`${field} must be a string`)
}

/** Empty when the provider sends no address. @throws {ProfileError} */
export function toOneEmail(
  value: unknown,
  isVerified: boolean,
  isPrimary = true,
): readonly ExternalEmail[] {
  const email = readText('email', value)
  return email === undefined ? [] : [{ email, isVerified, isPrimary }]
}

/** Removes missing and empty values. The values come from JSON. */
function toJson(values: Readonly<Record<string, unknown>>): Metadata {
  const isThere = (value: unknown) => value !== undefined && value !== null && value !== ''
  const there = Object.entries(values).filter(([, value]) => isThere(value))
  return Object.fromEntries(there) as { readonly [name: string]: Json }
}

/** Some providers send booleans as strings. */
export function isTrue(value: unknown): boolean {
  return value === true || value === 'true'
}

/**
 * @param isTrusting whether the provider's addresses count as verified
 * (`ProviderDefinition.trustsEmails`).
 * @param reported whether the provider reports this address as verified; undefined when it does not
 * say.
 */
export function isTrusted(isTrusting: boolean, reported?: unknown): boolean {
  return reported === undefined || reported === null ? isTrusting : isTrue(reported)
}

/** The value at a path in a response; undefined when the response has another shape. */
export function readAt(response: unknown, ...path: readonly (string | number)[]): unknown {
  let found = response
  for (const step of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, step)) return undefined
    found = Reflect.get(found, step)
  }
  return found
}

export function readObjects(
  response: unknown,
  ...path: readonly (string | number)[]
): readonly JsonObject[] {
  const found = readAt(response, ...path)
  return Array.isArray(found) ? found.filter(isObject) : []
}

/** Joins the parts of a name that are present; undefined when there are none. */
export function joinNames(...parts: readonly unknown[]): string | undefined {
  const names = parts.filter((part): part is string => typeof part === 'string' && part !== '')
  return names.length === 0 ? undefined : names.join(' ')
}
