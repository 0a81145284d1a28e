import { isStorableText, type Json, type Metadata } from '../../../features/users/metadata.ts'
import { type ExternalEmail, type ExternalProfile, ProfileError } from './external-profile.ts'
import { isObject, type JsonObject } from './provider-http.ts'

export interface ProfileParts {
  /** Numbers are ids as well. */
  readonly id: unknown
  /** The host of the API, or the issuer. */
  readonly issuer: string
  readonly emails: ExternalProfile['emails']
  /** Also the full name, unless `full_name` says otherwise. */
  readonly name?: unknown
  readonly picture?: unknown
  /** Under the names of reference 5.3. */
  readonly more?: Readonly<Record<string, unknown>>
  readonly custom?: Readonly<Record<string, unknown>>
}

/**
 * Reference 10.2: what is the same for all of them.
 * @throws {ProfileError} where a field is of the wrong type.
 * @throws {TypeError} without an id.
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

/** The limit of OpenID Connect for `sub`. Ids are indexed, and an index has a limit too. */
const longestUserId = 255

function readUserId(id: unknown): string {
  if (id === undefined || id === null || id === '') throw new TypeError('The profile has no id')
  // A larger number is not the one that the provider sent: JSON.parse has rounded it.
  const text = Number.isSafeInteger(id) ? `${id}` : id
  if (typeof text !== 'string') throw new ProfileError('the user id must be a string')
  if (text.length > longestUserId || !isStorableText(text)) {
    throw new ProfileError(`the user id must be a text of at most ${longestUserId} characters`)
  }
  return text
}

/** Undefined where the provider sends nothing. @throws {ProfileError} */
function readText(field: string, value: unknown): string | undefined {
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value === 'string') return value
  throw new ProfileError(`${field} must be a string`)
}

/** None where the provider sends none. @throws {ProfileError} */
export function toOneEmail(
  value: unknown,
  isVerified: boolean,
  isPrimary = true,
): readonly ExternalEmail[] {
  const email = readText('email', value)
  return email === undefined ? [] : [{ email, isVerified, isPrimary }]
}

/** What came as JSON, without what is not there. */
function toJson(values: Readonly<Record<string, unknown>>): Metadata {
  const isThere = (value: unknown) => value !== undefined && value !== null && value !== ''
  const there = Object.entries(values).filter(([, value]) => isThere(value))
  return Object.fromEntries(there) as { readonly [name: string]: Json }
}

/** Providers say yes in several ways. */
export function isTrue(value: unknown): boolean {
  return value === true || value === 'true'
}

/**
 * @param isTrusting whether addresses of this provider count as verified (`ProviderDefinition.trustsEmails`).
 * @param said by the provider about this one address; undefined: nothing.
 */
export function isTrusted(isTrusting: boolean, said?: unknown): boolean {
  return said === undefined || said === null ? isTrusting : isTrue(said)
}

/** What is at a path of an answer; undefined where the answer is another than we know. */
export function readAt(answer: unknown, ...path: readonly (string | number)[]): unknown {
  let found = answer
  for (const step of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, step)) return undefined
    found = Reflect.get(found, step)
  }
  return found
}

export function readObjects(
  answer: unknown,
  ...path: readonly (string | number)[]
): readonly JsonObject[] {
  const found = readAt(answer, ...path)
  return Array.isArray(found) ? found.filter(isObject) : []
}

/** Of those parts of a name that there are; undefined: none. */
export function joinNames(...parts: readonly unknown[]): string | undefined {
  const names = parts.filter((part): part is string => typeof part === 'string' && part !== '')
  return names.length === 0 ? undefined : names.join(' ')
}
