import type { Metadata } from '../../../stored-json.ts'
import type { ExternalProfile } from './external-profile.ts'
import type { ProviderHttp } from './provider-http.ts'

/** The base URLs of a provider, without a trailing slash. */
export interface Addresses {
  /** For browsers: `EXTERNAL_<PROVIDER>_URL`, or the public URL. */
  readonly url: string
  /** For API requests: `EXTERNAL_<PROVIDER>_API_URL`. Default: derived from `url`, or the public URL. */
  readonly apiUrl: string
  /** Whether no URL was configured. Some public providers use more hosts than these two. */
  readonly isPublic: boolean
}

/** The configuration and services that a provider's definition receives. */
export interface ProviderSetup {
  readonly id: string
  /** The first is used in the redirect flow; ID tokens may be issued to any of them. */
  readonly clientIds: readonly [string, ...string[]]
  readonly secret: string
  readonly redirectUri: string
  readonly at: Addresses
  readonly http: ProviderHttp
  readonly openId: OpenId
}

/**
 * Describes a provider. Most are created by `defineOAuth2`; a provider with another protocol
 * implements the steps itself.
 */
export interface ProviderDefinition {
  /** Undefined when there is no public instance, so that the URL must be configured. */
  readonly url?: string
  /**
   * Set if the provider has no self-hosted instances. The URL cannot be configured then, because
   * another host could sign in as any user.
   */
  readonly hasOneInstance?: true
  /** Returns why a configured URL is invalid; undefined when it is valid. */
  findUrlFault?(url: string): string | undefined
  /**
   * Whether an address counts as verified if the provider does not report that. Undefined when the
   * provider always reports it. A verified address signs the user in to the account that has it. If
   * users of the provider can enter any address, set `false`: they must then confirm the address by
   * email first.
   */
  readonly trustsEmails?: boolean
  /** Defined if apps can sign users in with ID tokens of this provider. */
  readonly idTokens?: { isIssuer(issuer: string, at: Addresses): boolean }
  /** Whether ID tokens may be issued to AUTH_EXTERNAL_IOS_BUNDLE_ID. */
  readonly hasIosApps?: true
  /** The URL of the public API, if it differs from `url`. */
  readonly apiUrl?: string
  /** Derives the API's URL from the URL of a self-hosted instance. Default: the same URL. */
  toApiUrl?(url: string): string
  create(setup: ProviderSetup): ProviderSteps
}

/** The steps that differ between providers. */
export type ProviderSteps = Pick<
  ExternalProvider,
  'start' | 'exchange' | 'readProfile' | 'idTokens' | 'returnsByForm'
>

/** A request to send a user to a provider. */
export interface ExternalStart {
  /** The provider returns it unchanged to the callback URL. */
  readonly state: string
  /** Requested in addition to the provider's fixed scopes. */
  readonly scopes: readonly string[]
  /** Parameters of the client's request that are passed to the provider: `prompt`, `login_hint`, … */
  readonly parameters: Readonly<Record<string, string>>
}

export interface ExternalTarget {
  /** The URL to which the browser is redirected. */
  readonly url: string
  /**
   * Data that the provider's steps need when the user returns. Stored with the flow and never sent
   * out.
   */
  readonly memo: Metadata
}

/** The request with which the provider sends the user back to the callback URL. */
export interface ExternalReturn {
  /** From the query, or from the posted form. */
  readonly parameters: Readonly<Record<string, string | undefined>>
  readonly memo: Metadata
}

export interface ExternalTokens {
  readonly accessToken: string
  readonly refreshToken: string | undefined
  readonly idToken: string | undefined
  /** The provider's whole response. */
  readonly response: Readonly<Record<string, unknown>>
}

export type IdTokenClaims = Readonly<Record<string, unknown>>

/** For apps that have signed the user in with the provider's own SDK. */
export interface ExternalIdTokens {
  /** Whether the provider uses this issuer. Keys are fetched from no other issuer. */
  isIssuer(issuer: string): boolean
  /** Whether tokens are accepted without checking their nonce. */
  readonly skipsNonce: boolean
  /**
   * Checks signature, issuer, expiry and audience.
   * @throws {IdTokenError}
   */
  verify(idToken: string): Promise<IdTokenClaims>
  toProfile(claims: IdTokenClaims): ExternalProfile
}

/** An ID token was refused. The message is sent to the client. */
export class IdTokenError extends Error {
  override readonly name = 'IdTokenError'
}

/** A provider with this installation's registration. */
export interface ExternalProvider {
  readonly id: string
  /** All client IDs of this installation. */
  readonly clientIds: readonly string[]
  /** Whether users without an email address may sign in. */
  readonly isEmailOptional: boolean
  /** The URL to which the provider redirects users. */
  readonly redirectUri: string
  /**
   * Whether the provider returns with a cross-site POST, to which browsers attach no `SameSite=Lax`
   * cookie.
   */
  readonly returnsByForm: boolean
  start(start: ExternalStart): Promise<ExternalTarget>
  exchange(back: ExternalReturn): Promise<ExternalTokens>
  readProfile(tokens: ExternalTokens, back: ExternalReturn): Promise<ExternalProfile>
  readonly idTokens: ExternalIdTokens | undefined
}

export interface ExternalProviders {
  /** @throws {ApiError} with the reason when the provider is unknown, disabled or misconfigured. */
  find(id: string): ExternalProvider
  readonly enabled: readonly ExternalProvider[]
  /**
   * The issuer of a provider, whether it is enabled or not. Undefined for a provider that is unknown
   * or issues no ID tokens.
   * @param shown the issuer that an ID token names, if it names one; it is not verified.
   */
  findIssuer(id: string, shown: string | undefined): string | undefined
  isEnabled(id: string): boolean
  /** Finds an issuer of ID tokens that the operator allows although it is not a provider. */
  findAllowedIssuer(issuer: string, clientId: string): IdTokenSource | undefined
}

/** Where an ID token comes from. */
export interface IdTokenSource {
  readonly provider: Pick<ExternalProvider, 'id' | 'isEmailOptional'>
  readonly idTokens: ExternalIdTokens
}

export interface IdTokenExpectation {
  /**
   * The URL to which `/.well-known/openid-configuration` is appended. It is never taken from the
   * token.
   */
  readonly discoveryUrl: string
  /** The URL of the issuer's keys, if it is known without discovery. */
  readonly keysUrl?: string | undefined
  isIssuer(issuer: string): boolean
  /** The client IDs of this installation, one of which must be the token's audience. */
  readonly audiences: readonly string[]
}

/** Verifies ID tokens with the keys that issuers publish. */
export interface OpenId {
  /** @throws {IdTokenError} */
  verify(idToken: string, expected: IdTokenExpectation): Promise<IdTokenClaims>
}
