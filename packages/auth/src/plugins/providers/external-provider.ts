import type { Metadata } from '../../features/users/metadata.ts'
import type { ExternalProfile } from './external-profile.ts'

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
