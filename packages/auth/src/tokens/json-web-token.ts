import { type SigningKeys, signingAlgorithms } from './signing-keys.ts'
import { createVerifiedTokens, type VerifiedTokens } from './verified-tokens.ts'

export type Claims = Readonly<Record<string, unknown>>

/** Why a token is rejected. Clients compare these messages. */
export class TokenError extends Error {
  override readonly name = 'TokenError'
}

const longestToken = 64 * 1_024

export interface TokenSigner {
  sign(claims: Claims): string
  /** @throws {TokenError} */
  verify(token: string, nowSeconds: number): Claims
}

/** @param issuers accepted values of `iss`, if a token has one; undefined: any. */
export function createTokenSigner(
  keys: SigningKeys,
  issuers?: readonly string[],
  verified: VerifiedTokens<Claims> = createVerifiedTokens(),
): TokenSigner {
  const { algorithm, key, kid } = keys.signing
  const header = toSegment({ alg: algorithm, typ: 'JWT', ...(kid !== undefined && { kid }) })
  const signer = signingAlgorithms[algorithm]

  /** Checks everything that does not depend on the time. @throws {TokenError} */
  const verifyContent = (token: string): Claims => {
    const [head = '', body = '', signature = '', ...more] = token.split('.')
    if (token.length > longestToken || signature === '' || more.length > 0) {
      throw new TokenError('token is malformed: token contains an invalid number of segments')
    }
    const { alg, kid: named, crit } = parseSegment(head)
    // RFC 7515, section 4.1.11: a token with extensions that are not understood must be rejected.
    if (crit !== undefined) {
      throw new TokenError('token is unverifiable: extensions named by crit are not supported')
    }
    if (typeof alg === 'string' && Object.hasOwn(signingAlgorithms, alg) && !keys.accepts(alg)) {
      throw new TokenError(`token signature is invalid: signing method ${alg} is invalid`)
    }
    const found =
      typeof alg === 'string'
        ? keys.find(alg, typeof named === 'string' ? named : undefined)
        : undefined
    if (found === undefined) {
      throw new TokenError('token is unverifiable: error while executing keyfunc')
    }
    const verifier = signingAlgorithms[found.algorithm]
    if (!verifier.verify(`${head}.${body}`, found.key, parseSignature(signature))) {
      throw new TokenError('token signature is invalid: signature is invalid')
    }
    return parseSegment(body)
  }
  return {
    sign(claims) {
      const data = `${header}.${toSegment(claims)}`
      return `${data}.${signer.sign(data, key).toString('base64url')}`
    },

    verify(token, nowSeconds) {
      const claims = verified.get(token) ?? verifyContent(token)
      checkTimes(claims, nowSeconds)
      if (issuers !== undefined) checkIssuer(claims, issuers)
      verified.add(token, claims)
      return claims
    },
  }
}

function checkTimes({ exp, nbf }: Claims, nowSeconds: number): void {
  if (exp !== undefined && !(typeof exp === 'number' && nowSeconds < exp)) {
    throw new TokenError('token has invalid claims: token is expired')
  }
  if (nbf !== undefined && !(typeof nbf === 'number' && nowSeconds >= nbf)) {
    throw new TokenError('token has invalid claims: token is not valid yet')
  }
}

/**
 * A token without an issuer is accepted: service keys, and tokens that were issued before the
 * setting was made, have none.
 */
function checkIssuer({ iss }: Claims, issuers: readonly string[]): void {
  if (iss === undefined || (typeof iss === 'string' && issuers.includes(iss))) return
  throw new TokenError('token has invalid claims: token has invalid issuer')
}

function toSegment(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

const base64url = /^[\w-]*$/

function parseSegment(segment: string): Claims {
  try {
    if (!base64url.test(segment)) throw new SyntaxError('not base64url')
    const text = Buffer.from(segment, 'base64url').toString('utf8')
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      if (!isNamedTwice(text, value)) return value as Claims
    }
  } catch {
    // The exact reason is not useful to clients.
  }
  throw new TokenError('token is malformed: could not JSON decode')
}

/** If a claim occurs twice, other parsers may use the first value and this one the last. */
function isNamedTwice(text: string, value: object): boolean {
  // Nearly all tokens are compact JSON, so this check is usually sufficient.
  if (JSON.stringify(value) === text) return false
  let depth = 0
  let names = 0
  for (const [part] of text.matchAll(/"(?:[^"\\]|\\.)*"\s*:?|[[\]{}]/g)) {
    if (part === '{' || part === '[') depth += 1
    else if (part === '}' || part === ']') depth -= 1
    else if (depth === 1 && part.endsWith(':')) names += 1
  }
  return names !== Object.keys(value).length
}

function parseSignature(segment: string): Buffer {
  if (!base64url.test(segment)) throw new TokenError('token is malformed: could not base64 decode')
  return Buffer.from(segment, 'base64url')
}
