import type { IncomingMessage } from 'node:http'
import type { JWTPayload } from 'jose'

/** The fields of an account at a provider. */
export type Account = Readonly<Record<string, unknown>>

/**
 * The protocol of a provider according to its documentation and recorded responses. There is one
 * file for each provider in `provider-shapes/`.
 */
export interface ProviderShape {
  readonly id: string
  /** The path of the URL that `EXTERNAL_<PROVIDER>_URL` is set to. */
  readonly basePath?: string
  /** The path of the issuer of its ID tokens, relative to that URL. */
  readonly issuerPath?: string
  /** Only for OAuth 1.0a; such a provider is served by `oauth1-server.ts`. */
  readonly requestTokenPath?: string
  readonly authorizePath: string
  readonly tokenPath: string
  /** The scopes that must be requested. */
  readonly scopes: readonly string[]
  /** Whether the provider refuses other scopes. */
  readonly hasFixedScopes?: boolean
  /** Additional parameters that the authorization URL must have. */
  readonly parameters?: Readonly<Record<string, string>>
  /** How client id and secret must be sent; by default either way is accepted. */
  readonly credentials?: 'basic' | 'body'
  /** The format of token responses; default: JSON. */
  readonly tokenFormat?: 'json' | 'form'
  /** Whether the token endpoint returns errors with status 200. */
  readonly hidesRefusals?: boolean
  /** Additional fields of error responses. If set, the API also returns errors with status 200. */
  readonly refusalFields?: Readonly<Record<string, unknown>>
  /** Whether the provider refuses requests without PKCE. */
  readonly requiresPkce?: boolean
  /** The body of errors of the token endpoint; default: as in RFC 6749. */
  readonly tokenError?: (error: string, reason: string) => Account
  /** The errors of the API; default: the status, and a body as in RFC 6749. */
  readonly apiError?: (status: number, reason: string) => ShapeError
  /** The parameters that are returned if the user denies access; default: as in RFC 6749. */
  readonly denial?: Readonly<Record<string, string>>
  /** How the browser returns; default: by a redirect. */
  readonly returnsBy?: 'redirect' | 'form post'
  /** Additional parameters that are returned with the code. */
  readonly returnsWith?: (account: Account) => Readonly<Record<string, string>>
  /** Additional fields of token responses. */
  readonly tokenFields?: (account: Account) => Readonly<Record<string, unknown>>
  /** Claims of the ID token besides iss, aud, iat and exp. When undefined, there is no ID token. */
  readonly idToken?: (account: Account) => JWTPayload
  /** API responses by path; the access token has already been checked. */
  readonly api: Readonly<Record<string, (account: Account, request: ApiRequest) => unknown>>
  /** Parameters that an application must send to our `/authorize`. */
  readonly query?: Readonly<Record<string, string>>
  readonly example: ShapeExample
}

/** An account at the provider and the identity that our server stores for it. */
export interface ShapeExample {
  readonly account: Account
  readonly identityData: Account
  /**
   * The fields that differ for an unverified address. When undefined, the provider does not report
   * it.
   */
  readonly unverified?: Account
  /** The fields that differ for an account without an email address. */
  readonly withoutEmail: Account
  /** The fields that differ for a response without an id. */
  readonly withoutId: Account
}

export interface ShapeError {
  readonly status: number
  readonly body: Account
}

export interface ApiRequest {
  readonly url: URL
  readonly headers: IncomingMessage['headers']
  readonly accessToken: string
  readonly secret: string
}
