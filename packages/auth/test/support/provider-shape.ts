import type { IncomingMessage } from 'node:http'
import type { JWTPayload } from 'jose'

/** Any fields: what a provider knows about somebody. */
export type Account = Readonly<Record<string, unknown>>

/**
 * How a provider looks from outside, as its documentation and recorded answers show it. One file for
 * each in `provider-shapes/`.
 */
export interface ProviderShape {
  readonly id: string
  /** Below the URL of the server, which is what `EXTERNAL_X_URL` is set to. */
  readonly basePath?: string
  /** Below that: what the issuer of its ID tokens ends with. */
  readonly issuerPath?: string
  /** Of OAuth 1.0a; it is then served by `oauth1-server.ts`. */
  readonly requestTokenPath?: string
  readonly authorizePath: string
  readonly tokenPath: string
  /** Must be asked for. */
  readonly scopes: readonly string[]
  /** Whether it refuses all others. */
  readonly hasFixedScopes?: boolean
  /** More parameters that the authorization URL must have. */
  readonly parameters?: Readonly<Record<string, string>>
  /** The only way it takes client id and secret; either one where this is left out. */
  readonly credentials?: 'basic' | 'body'
  /** How it answers a request for tokens: JSON unless said. */
  readonly tokenFormat?: 'json' | 'form'
  /** Whether refusals of the token endpoint are answers 200 with an error inside. */
  readonly hidesRefusals?: boolean
  /** More fields of its refusals. Those of its API are then hidden too. */
  readonly refusalFields?: Readonly<Record<string, unknown>>
  /** How people come back: by a redirect unless said. */
  readonly returnsBy?: 'redirect' | 'form post'
  /** More that comes back with the code. */
  readonly returnsWith?: (account: Account) => Readonly<Record<string, string>>
  /** More fields of the answer to a request for tokens. */
  readonly tokenFields?: (account: Account) => Readonly<Record<string, unknown>>
  /** Claims of the ID token, beside iss, aud, iat and exp. Left out: it gives none. */
  readonly idToken?: (account: Account) => JWTPayload
  /** Answers of its API, by path; the access token has been checked. */
  readonly api: Readonly<Record<string, (account: Account, request: ApiRequest) => unknown>>
  /** What an application must send along to our `/authorize`. */
  readonly query?: Readonly<Record<string, string>>
  readonly example: ShapeExample
}

/** An account as it comes from the provider, and what our server makes of it. */
export interface ShapeExample {
  readonly account: Account
  readonly identityData: Account
  /** What is other for somebody whose address it has not verified. Left out: it cannot say so. */
  readonly unverified?: Account
  /** … for somebody of whom it tells no address. */
  readonly withoutEmail: Account
  /** … and for nobody at all. */
  readonly withoutId: Account
}

export interface ApiRequest {
  readonly url: URL
  readonly headers: IncomingMessage['headers']
  readonly accessToken: string
  readonly secret: string
}
