import type { Metadata } from '../../../features/users/metadata.ts'
import type { ExternalProfile } from './external-profile.ts'
import type { ProviderHttp } from './provider-http.ts'

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
  /**
   * There is only one of it, so that its URL cannot be configured: a URL of another would hand people's
   * accounts to whoever is there.
   */
  readonly isAtOnePlace?: true
  /** Why a configured URL cannot be right; undefined: nothing is wrong with it. */
  findUrlFault?(url: string): string | undefined
  /**
   * Whether an address counts as verified where the provider does not say so about each; undefined: it
   * always says so. A verified address leads to the account that has it (reference 6.9), so whoever can
   * write any address into a profile there could enter any account here: `false` makes them confirm it
   * by mail first.
   */
  readonly trustsEmails?: boolean
  /** Whether ID tokens may be made for AUTH_EXTERNAL_IOS_BUNDLE_ID. */
  readonly hasIosApps?: true
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

/** Somebody is to be sent to a provider. */
export interface ExternalStart {
  /** Comes back with the user. */
  readonly state: string
  /** Beside those that are always asked for. */
  readonly scopes: readonly string[]
  /** Of the request, for the provider: `prompt`, `login_hint`, … */
  readonly parameters: Readonly<Record<string, string>>
}

export interface ExternalTarget {
  /** Where the browser goes. */
  readonly url: string
  /** What the provider's file wants back with the user. Kept with the flow, seen by nobody. */
  readonly memo: Metadata
}

/** Somebody has come back from a provider. */
export interface ExternalReturn {
  /** Of the query, or of the form that was posted. */
  readonly parameters: Readonly<Record<string, string | undefined>>
  readonly memo: Metadata
}

export interface ExternalTokens {
  readonly accessToken: string
  readonly refreshToken: string | undefined
  readonly idToken: string | undefined
  /** All that the provider answered. */
  readonly answer: Readonly<Record<string, unknown>>
}

export type IdTokenClaims = Readonly<Record<string, unknown>>

/** For applications that have signed in at the provider by themselves (reference 3.12). */
export interface ExternalIdTokens {
  /** Whether the provider speaks for that issuer. Keys are fetched from no other. */
  isIssuer(issuer: string): boolean
  /** Whether tokens are taken whose nonce nobody has checked. */
  readonly skipsNonce: boolean
  /**
   * Checks signature, issuer, time and whom it was made for.
   * @throws {IdTokenError}
   */
  verify(idToken: string): Promise<IdTokenClaims>
  toProfile(claims: IdTokenClaims): ExternalProfile
}

/** Why an ID token is not taken, in words for the caller. */
export class IdTokenError extends Error {
  override readonly name = 'IdTokenError'
}

/** A provider as this installation is registered there. */
export interface ExternalProvider {
  readonly id: string
  /** All of our ids there. */
  readonly clientIds: readonly string[]
  /** Whether a user without an address is taken. */
  readonly isEmailOptional: boolean
  /** Where it sends people back to. */
  readonly redirectUri: string
  /** Whether people come back by a form of the provider's page, with which no lax cookie comes. */
  readonly returnsByForm: boolean
  start(start: ExternalStart): Promise<ExternalTarget>
  exchange(back: ExternalReturn): Promise<ExternalTokens>
  readProfile(tokens: ExternalTokens, back: ExternalReturn): Promise<ExternalProfile>
  readonly idTokens: ExternalIdTokens | undefined
}

export interface ExternalProviders {
  /** @throws {ApiError} where people cannot sign in through it, in words that say why. */
  find(id: string): ExternalProvider
  /** Those that are switched on. */
  readonly enabled: readonly ExternalProvider[]
}

export interface IdTokenExpectation {
  /** Whom to ask for the keys: never taken from the token. */
  readonly discoveryUrl: string
  isIssuer(issuer: string): boolean
  /** Our ids there, of which the token must be for one. */
  readonly audiences: readonly string[]
}

/** ID tokens, checked with the keys that issuers publish. */
export interface OpenId {
  /** @throws {IdTokenError} */
  verify(idToken: string, expected: IdTokenExpectation): Promise<IdTokenClaims>
}
