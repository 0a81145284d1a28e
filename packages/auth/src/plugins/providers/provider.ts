import type { Json, Metadata } from '../../features/users/metadata.ts'
import { isStorableText } from '../../features/users/metadata.ts'
import { type ExternalEmail, type ExternalProfile, ProfileError } from './external-profile.ts'
import type { ExternalProvider } from './external-provider.ts'
import type { OpenId } from './oidc.ts'
import type { ProviderHttp } from './provider-http.ts'

export type { ExternalEmail, ExternalProfile } from './external-profile.ts'
export type {
  ExternalProvider,
  ExternalReturn,
  ExternalTokens,
  IdTokenClaims,
} from './external-provider.ts'

/** Where a provider is. Without a slash at the end. */
export interface Addresses {
  /** Where people go: `EXTERNAL_X_URL`, or the public one. */
  readonly url: string
  /** Where programs ask: `EXTERNAL_X_API_URL`; else what follows from `url`, or the public one. */
  readonly apiUrl: string
  /** Whether nothing was configured: some providers have more hosts than these two. */
  readonly isPublic: boolean
}

/** What a provider's file is given to work with. */
export interface ProviderSetup {
  readonly id: string
  /** The first is ours in the redirect flow; ID tokens may be for any of them. */
  readonly clientIds: readonly [string, ...string[]]
  readonly secret: string
  readonly redirectUri: string
  readonly at: Addresses
  readonly http: ProviderHttp
  readonly openId: OpenId
}

/**
 * A provider as its file describes it. Nearly all of them are made by `defineOAuth2`; one that works
 * in another way makes its steps itself.
 */
export interface ProviderDefinition {
  /** Undefined: every installation has its own, and it must be configured. */
  readonly url?: string
  /** Where it is not the same. */
  readonly apiUrl?: string
  /** Where the API of an installation of one's own is; otherwise at its URL. */
  toApiUrl?(url: string): string
  create(setup: ProviderSetup): ProviderSteps
}

/** What is different from provider to provider. */
export type ProviderSteps = Pick<
  ExternalProvider,
  'start' | 'exchange' | 'readProfile' | 'idTokens' | 'returnsByForm'
>

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
