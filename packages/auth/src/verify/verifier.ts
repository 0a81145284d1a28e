import {
  createLocalJWKSet,
  decodeProtectedHeader,
  errors,
  type JSONWebKeySet,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
} from 'jose'
import { TokenError, type TokenErrorCode } from './errors.ts'
import { RemoteKeys } from './remote-keys.ts'

/** The claims of an access token. A hook on the auth server may add others: see {@link createVerifier}. */
export interface AccessTokenClaims {
  /** The id of the user. */
  readonly sub: string
  /** The audience: for whom the token was issued. */
  readonly aud: string | readonly string[]
  /** When the token expires, in seconds since 1970. */
  readonly exp: number
  /** When the token was issued, in seconds since 1970. */
  readonly iat?: number
  /** The issuer: the auth server, if it is configured to name itself. */
  readonly iss?: string
  /** The role of the user, such as `authenticated`. */
  readonly role?: string
  /** Empty if the user has none. */
  readonly email?: string
  /** Empty if the user has none. */
  readonly phone?: string
  /** Only the auth server and administrators can write it. */
  readonly app_metadata?: Readonly<Record<string, unknown>>
  /** Users can write it themselves: do not base permissions on it. */
  readonly user_metadata?: Readonly<Record<string, unknown>>
  /** `aal2` after sign-in with a second factor. */
  readonly aal?: 'aal1' | 'aal2'
  /** How the user signed in; `timestamp` is in seconds since 1970. */
  readonly amr?: readonly { readonly method: string; readonly timestamp: number }[]
  /** The id of the session. All tokens of one sign-in have the same. */
  readonly session_id?: string
  /** Whether the user signed in without an e-mail address or other identity. */
  readonly is_anonymous?: boolean
}

/** Options of {@link createVerifier}. One of `authUrl`, `secret` and `jwks` is required. */
export interface VerifierOptions {
  /** The address of the auth server, whose public keys are fetched and cached. */
  readonly authUrl?: string | URL | undefined
  /** The secret that signs tokens (`AUTH_JWT_SECRET`), for an auth server without key pairs. */
  readonly secret?: string | undefined
  /** The public keys themselves, for programs that must not call the auth server. */
  readonly jwks?: JSONWebKeySet | undefined
  /**
   * `aud` must be or contain one of these; `authenticated` by default. An auth server without
   * `AUTH_JWT_AUD` issues tokens for the audience `''`.
   */
  readonly audience?: string | readonly string[] | undefined
  /** `iss` must be this. By default it is not checked, since auth servers need not set it. */
  readonly issuer?: string | undefined
  /** `role` must be one of these. By default it is not checked. */
  readonly roles?: readonly string[] | undefined
  /** `aal2`: only tokens of users who have shown a second factor. */
  readonly aal?: 'aal1' | 'aal2' | undefined
  /** By how many seconds clocks may differ; 5 by default. */
  readonly clockToleranceSeconds?: number | undefined
  /** The current time in milliseconds, for tests. */
  readonly now?: (() => number) | undefined
}

/** Verifies access tokens. It keeps no connection and no timer, so that there is nothing to close. */
export interface Verifier<Claims extends AccessTokenClaims = AccessTokenClaims> {
  /**
   * @throws {TokenError} if the token must not be accepted.
   * @throws {AuthUnavailableError} if the keys cannot be fetched.
   */
  verify(token: string): Promise<Claims>
  /**
   * The same for an `Authorization` header: `Bearer <token>`.
   * @throws {TokenError} with code `missing_token` if there is no such header.
   */
  verifyHeader(authorization: string | null | undefined): Promise<Claims>
}

// A token must not choose how it is verified: secrets verify only HS256, public keys never do.
const publicAlgorithms = ['ES256', 'RS256', 'EdDSA']

const optionNames: ReadonlySet<string> = new Set<keyof VerifierOptions>([
  'authUrl',
  'secret',
  'jwks',
  'audience',
  'issuer',
  'roles',
  'aal',
  'clockToleranceSeconds',
  'now',
])

/**
 * Verifies access tokens without a request to the auth server for each of them.
 *
 * With `secret` and `authUrl` (or `jwks`) together, tokens of both kinds are accepted: use this while an
 * auth server changes from one to the other.
 *
 * @example
 * ```ts
 * import { createVerifier } from '@portcullis/auth/verify'
 *
 * const verifier = createVerifier({ authUrl: 'https://auth.example.com' })
 * const readUser = async (request: Request) => {
 *   const { sub, email } = await verifier.verifyHeader(request.headers.get('authorization'))
 *   return { id: sub, email }
 * }
 * ```
 *
 * @typeParam Extra claims that a hook of the auth server adds. They are not checked at run time.
 */
export function createVerifier<Extra extends object = object>(
  options: VerifierOptions,
): Verifier<AccessTokenClaims & Extra> {
  checkOptions(options)
  const { audience = 'authenticated', issuer, clockToleranceSeconds = 5 } = options
  const { now = Date.now } = options
  const findKey = createFindKey(options, now)
  const algorithms = [
    ...(options.secret === undefined ? [] : ['HS256']),
    ...(options.authUrl === undefined && options.jwks === undefined ? [] : publicAlgorithms),
  ]

  async function verify(token: string): Promise<AccessTokenClaims & Extra> {
    const payload = await jwtVerify(token, findKey, {
      algorithms,
      audience: typeof audience === 'string' ? audience : [...audience],
      ...(issuer !== undefined && { issuer }),
      requiredClaims: ['sub', 'exp'],
      clockTolerance: clockToleranceSeconds,
      currentDate: new Date(now()),
    }).then(
      (result) => result.payload,
      (error: unknown) => {
        throw toTokenError(error, token)
      },
    )
    return checkClaims(payload, options) as AccessTokenClaims & Extra
  }

  return {
    verify,
    async verifyHeader(authorization) {
      if (!authorization)
        throw new TokenError(
          'missing_token',
          'Send an access token: "Authorization: Bearer <token>"',
        )
      const token = /^Bearer +(\S+) *$/i.exec(authorization)?.[1]
      if (token === undefined)
        throw new TokenError(
          'malformed_token',
          'The Authorization header is not "Bearer <access token>"',
        )
      return verify(token)
    },
  }
}

function createFindKey(options: VerifierOptions, now: () => number): JWTVerifyGetKey {
  const secret = new TextEncoder().encode(options.secret)
  const findPublicKey = createFindPublicKey(options, now)
  return async (header) => {
    if (header.alg === 'HS256') return secret
    return findPublicKey(header)
  }
}

function createFindPublicKey({ authUrl, jwks }: VerifierOptions, now: () => number) {
  if (jwks) return createLocalJWKSet(jwks)
  const remote = authUrl === undefined ? undefined : new RemoteKeys(toKeysUrl(authUrl), now)
  return async (header: Parameters<RemoteKeys['find']>[0]) => {
    if (!remote) throw new errors.JWKSNoMatchingKey()
    return remote.find(header)
  }
}

function toKeysUrl(authUrl: string | URL): URL {
  const { href } = new URL(authUrl)
  return new URL('.well-known/jwks.json', href.endsWith('/') ? href : `${href}/`)
}

function checkOptions(options: VerifierOptions): void {
  const unknown = Object.keys(options ?? {}).find((name) => !optionNames.has(name))
  if (unknown !== undefined)
    throw new TypeError(
      `createVerifier has no option "${unknown}"; it has: ${[...optionNames].join(', ')}`,
    )
  const { authUrl, secret, jwks } = options ?? {}
  if (authUrl === undefined && secret === undefined && jwks === undefined)
    throw new TypeError(
      'createVerifier needs a way to verify signatures: "authUrl", "secret" or "jwks"',
    )
  if (authUrl !== undefined && jwks !== undefined)
    throw new TypeError('createVerifier takes keys from "authUrl" or "jwks", not from both')
  if (authUrl !== undefined && !/^https?:\/\/[^/]/.test(String(authUrl)))
    throw new TypeError(
      `"authUrl" must be the address of the auth server, like https://auth.example.com; it is "${authUrl}"`,
    )
  if (secret === '') throw new TypeError('"secret" is empty: is AUTH_JWT_SECRET set?')
}

function checkClaims(
  payload: JWTPayload & { readonly role?: unknown; readonly aal?: unknown },
  { audience, roles, aal }: VerifierOptions,
): JWTPayload {
  // jose takes an empty audience for none to check.
  if (audience === '' && payload.aud)
    throw new TokenError('wrong_audience', 'The token is for another audience (aud)')
  if (roles && !(typeof payload.role === 'string' && roles.includes(payload.role)))
    throw new TokenError('wrong_role', `The role must be ${roles.join(' or ')}`)
  if (aal === 'aal2' && payload.aal !== 'aal2')
    throw new TokenError('second_factor_required', 'Sign in with a second factor')
  return payload
}

function toTokenError(error: unknown, token: string): unknown {
  const because = (code: TokenErrorCode, message: string) =>
    new TokenError(code, message, { cause: error })
  if (error instanceof errors.JWTExpired) return because('expired_token', 'The token has expired')
  if (error instanceof errors.JWTClaimValidationFailed) return fromClaim(error, because)
  if (error instanceof errors.JWSSignatureVerificationFailed)
    return because('bad_signature', 'The signature is not from the key of the auth server')
  if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys)
    return because('unknown_key', 'The auth server has no key with the id in the token')
  if (error instanceof errors.JOSEAlgNotAllowed)
    return because('wrong_algorithm', describeAlgorithm(token))
  if (error instanceof errors.JOSEError)
    return because('malformed_token', 'The token is not an access token (a JWT)')
  return error
}

/** The usual reason is an API that knows only the address of an auth server that signs with a secret. */
function describeAlgorithm(token: string): string {
  if (decodeProtectedHeader(token).alg !== 'HS256')
    return 'The token is signed with an algorithm that is not accepted'
  return 'The token is signed with a secret (HS256), and this API verifies only tokens of key pairs'
}

function fromClaim(
  { claim, reason }: errors.JWTClaimValidationFailed,
  because: (code: TokenErrorCode, message: string) => TokenError,
): TokenError {
  if (reason === 'missing') return because('missing_claim', `The token has no claim "${claim}"`)
  if (claim === 'aud') return because('wrong_audience', 'The token is for another audience (aud)')
  if (claim === 'iss') return because('wrong_issuer', 'The token is from another issuer (iss)')
  if (claim === 'nbf') return because('token_not_yet_valid', 'The token is not valid yet (nbf)')
  return because('malformed_token', `The claim "${claim}" of the token is not valid`)
}
