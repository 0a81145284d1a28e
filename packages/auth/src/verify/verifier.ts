import { createLocalJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose'
import { findBoundKey } from '../dpop/proof.ts'
import { TokenError } from './errors.ts'
import type { ReceivedRequest } from './proofs/options.ts'
import { createProofCheck } from './proofs/proof-check.ts'
import { RemoteKeys } from './remote-keys.ts'
import type { RevocationState } from './revocations/options.ts'
import { RemoteRevocations } from './revocations/remote-revocations.ts'
import { listAlgorithms, toAudienceError, toTokenError } from './to-token-error.ts'
import { checkOptions, type VerifierOptions } from './verifier-options.ts'

/** The claims of an access token. A hook on the auth server may add others: see {@link createVerifier}. */
export interface AccessTokenClaims {
  /** The id of the user. */
  readonly sub: string
  /** The audience for which the token was issued. */
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
  /** The id of the API key that was exchanged for the token. */
  readonly key_id?: string
  /** What the API key allows, separated by spaces. */
  readonly scope?: string
  /** The plan of the API key or its owner, for rate limits. */
  readonly plan?: string
  /** The key to which the token is bound, as a thumbprint (RFC 7638). */
  readonly cnf?: { readonly jkt?: string }
  /** Whether the user signed in without an email address or another identity. */
  readonly is_anonymous?: boolean
}

/**
 * Verifies access tokens. It has a connection only with the option `revocation`; without it, nothing
 * needs to be closed.
 */
export interface Verifier<Claims extends AccessTokenClaims = AccessTokenClaims> {
  /**
   * @throws {TokenError} if the token must not be accepted.
   * @throws {AuthUnavailableError} if the keys cannot be fetched, or it is not known whether the
   * token has been revoked.
   */
  verify(token: string): Promise<Claims>
  /**
   * The same for an `Authorization` header: `Bearer <token>`.
   * @throws {TokenError} with code `missing_token` if there is no such header.
   */
  verifyHeader(authorization: string | null | undefined): Promise<Claims>
  /**
   * The same for a request whose token may be bound to a key: `Bearer <token>`, or `DPoP <token>` with a proof in the header
   * `DPoP`. Needs the option `dpop`.
   * @throws {TokenError} with code `bad_proof` if the client does not prove that it has the key.
   */
  verifyRequest(request: ReceivedRequest): Promise<Claims>
  /** The connection that receives revocations; undefined without the option `revocation`. */
  readonly revocation: RevocationState | undefined
  /** Closes the connection that receives revocations. */
  close(): Promise<void>
  /** The same as `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Creates a verifier that does not send a request to the auth server for each token.
 *
 * With `secret` and `authUrl` (or `jwks`) together, tokens of both kinds are accepted: use this
 * while an auth server changes from one to the other.
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
  const algorithms = listAlgorithms(options)
  const revocations = openRevocations(options)
  const checkProof = options.dpop && createProofCheck(options.dpop, now)

  async function verifyToken(token: string): Promise<AccessTokenClaims & Extra> {
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
        throw toTokenError(error, token, options)
      },
    )
    const claims = checkClaims(payload, options)
    await revocations?.check(claims, now() / 1_000)
    return claims as AccessTokenClaims & Extra
  }

  /** A client that has a token without its key may have stolen it. */
  async function verify(token: string): Promise<AccessTokenClaims & Extra> {
    const claims = await verifyToken(token)
    if (findBoundKey(claims) === undefined) return claims
    throw new TokenError(
      'missing_proof',
      'The token is bound to a key: send it as "Authorization: DPoP <token>" with a proof in the header DPoP. ' +
        'The API needs the option "dpop", and verifyRequest()',
    )
  }

  async function verifyHeader(authorization: string | null | undefined) {
    if (typeof authorization === 'object' && authorization !== null)
      throw new TypeError(
        'verifyHeader() takes the value of the Authorization header, such as ' +
          'request.headers.authorization or request.headers.get("authorization")',
      )
    if (!authorization)
      throw new TokenError('missing_token', 'Send an access token: "Authorization: Bearer <token>"')
    const token = /^Bearer +(\S+) *$/i.exec(authorization)?.[1]
    if (token === undefined)
      throw new TokenError('malformed_token', 'The Authorization header must be "Bearer <token>"')
    return verify(token)
  }

  async function verifyRequest(request: ReceivedRequest) {
    const accessToken = /^DPoP +(\S+) *$/i.exec(request.authorization ?? '')?.[1]
    if (accessToken === undefined || checkProof === undefined)
      return verifyHeader(request.authorization)
    const claims = await verifyToken(accessToken)
    const boundKey = findBoundKey(claims)
    if (boundKey === undefined)
      throw new TokenError('bad_proof', 'The token is not bound to a key: send it as Bearer')
    await checkProof({ ...request, accessToken, boundKey })
    return claims
  }
  const close = async () => await revocations?.close()

  return {
    get revocation() {
      return revocations?.state
    },
    close,
    [Symbol.asyncDispose]: close,
    verify,
    verifyHeader,
    verifyRequest,
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
  const remote =
    authUrl === undefined
      ? undefined
      : new RemoteKeys(toEndpoint(authUrl, '.well-known/jwks.json'), now)
  return async (header: Parameters<RemoteKeys['find']>[0]) => {
    if (!remote) throw new errors.JWKSNoMatchingKey()
    return remote.find(header)
  }
}

function openRevocations({ revocation, authUrl }: VerifierOptions): RemoteRevocations | undefined {
  if (revocation === undefined) return undefined
  const url = revocation.authUrl ?? authUrl
  return url === undefined
    ? undefined
    : new RemoteRevocations(toEndpoint(url, 'revocations'), revocation)
}

function toEndpoint(authUrl: string | URL, path: string): URL {
  const { href } = new URL(authUrl)
  return new URL(path, href.endsWith('/') ? href : `${href}/`)
}

function checkClaims(
  payload: JWTPayload & {
    readonly role?: unknown
    readonly aal?: unknown
    readonly token_use?: unknown
  },
  { audience, roles, aal }: VerifierOptions,
): JWTPayload {
  // jose does not check an empty audience.
  if (audience === '' && payload.aud) throw toAudienceError(payload, { audience })
  // ID tokens and the cookies of the auth server are signed with the same key.
  if (payload.token_use === 'id' || payload.token_use === 'browser')
    throw new TokenError('wrong_audience', 'The token is not an access token')
  if (roles && !(typeof payload.role === 'string' && roles.includes(payload.role)))
    throw new TokenError('wrong_role', `The role must be ${roles.join(' or ')}`)
  if (aal === 'aal2' && payload.aal !== 'aal2')
    throw new TokenError('second_factor_required', 'Sign in with a second factor')
  return payload
}
