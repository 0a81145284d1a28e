import type { CompactJWSHeaderParameters, JWK } from 'jose'

/** Loaded with the first proof, because loading it takes a tenth of the start of a server. */
const loadJose = () => import('jose')

/** The algorithms of proofs. They are all asymmetric, because a proof contains the key that verifies it. */
export const proofAlgorithms = ['ES256', 'ES384', 'ES512', 'Ed25519', 'EdDSA', 'PS256', 'RS256']

/** A proof that must not be accepted. The message is for the developer of the client. */
export class ProofError extends Error {
  override readonly name = 'ProofError'
}

/** The request that a proof belongs to. */
export interface ProvenRequest {
  readonly method: string
  /** The URL as the client sees it. Its query and fragment are not compared. */
  readonly url: string
  /** The access token in the same request. */
  readonly accessToken?: string | undefined
}

/** A proof whose signature and request are right. Whether it is fresh has not been checked. */
export interface Proof {
  /** The SHA-256 thumbprint of the public key (RFC 7638). */
  readonly thumbprint: string
  /** The hash of the key and the `jti`, by which a second use is recognised. */
  readonly id: Uint8Array
  /** When the client created it, in seconds. */
  readonly issuedAt: number
  /** The nonce of the server, if the client has received one. */
  readonly nonce: string | undefined
}

/** Private members of a JWK, of all types of keys. */
const privateMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']
const longestId = 256

/** Checks the header `DPoP` of a request (RFC 9449, section 4.3). @throws {ProofError} */
export async function checkProof(text: string, request: ProvenRequest): Promise<Proof> {
  const { header, claims } = await verifySignature(text)
  const { htm, htu, ath, jti, iat, nonce } = claims
  if (htm !== request.method) throw new ProofError('htm is not the method of this request')
  if (typeof htu !== 'string' || !isSameUrl(htu, request.url)) {
    throw new ProofError(`htu is not the URL of this request, ${toComparable(request.url)}`)
  }
  if (request.accessToken !== undefined && ath !== (await toTokenHash(request.accessToken))) {
    throw new ProofError('ath is not the hash of the access token')
  }
  if (typeof jti !== 'string' || jti === '' || jti.length > longestId) {
    throw new ProofError(`jti must have from 1 to ${longestId} characters`)
  }
  if (typeof iat !== 'number') throw new ProofError('iat must be a number')
  if (nonce !== undefined && typeof nonce !== 'string') throw new ProofError('nonce must be a text')
  const { calculateJwkThumbprint } = await loadJose()
  const thumbprint = await calculateJwkThumbprint(header)
  return { thumbprint, id: await hash(`${thumbprint} ${jti}`), issuedAt: iat, nonce }
}

interface Verified {
  readonly header: JWK
  readonly claims: Readonly<Record<string, unknown>>
}

/** @throws {ProofError} */
async function verifySignature(text: string): Promise<Verified> {
  const { compactVerify } = await loadJose()
  try {
    const { protectedHeader, payload } = await compactVerify(text, findEmbeddedKey, {
      algorithms: proofAlgorithms,
    })
    const { typ, jwk, crit } = protectedHeader
    if (crit !== undefined) throw new ProofError('no critical extension is supported')
    if (typ?.toLowerCase() !== 'dpop+jwt') throw new ProofError('typ must be dpop+jwt')
    const claims: unknown = JSON.parse(new TextDecoder().decode(payload))
    return { header: jwk as JWK, claims: Object(claims) }
  } catch (error) {
    if (error instanceof ProofError) throw error
    // The key comes from the client, so errors of the cryptography are errors of the client too.
    throw new ProofError('it is not a JWT that the key in its header has signed', { cause: error })
  }
}

/** @throws {ProofError} */
async function findEmbeddedKey(header: CompactJWSHeaderParameters) {
  // A client that sends its private key has lost it.
  const { jwk = {} } = header
  if (privateMembers.some((name) => name in jwk)) throw new ProofError('jwk must be a public key')
  const { EmbeddedJWK } = await loadJose()
  return await EmbeddedJWK(header)
}

/** The hash of an access token, `ath`. */
async function toTokenHash(token: string): Promise<string> {
  const { base64url } = await loadJose()
  return base64url.encode(await hash(token))
}

async function hash(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
}

function isSameUrl(one: string, other: string): boolean {
  return URL.canParse(one) && toComparable(one) === toComparable(other)
}

function toComparable(text: string): string {
  const url = new URL(text)
  url.search = ''
  url.hash = ''
  return url.href
}

/**
 * The thumbprint of the key to which an access token is bound (RFC 9449, section 6.1). Undefined for a bearer
 * token. A confirmation that is not understood counts as one that no key fulfils.
 */
export function findBoundKey({ cnf }: { readonly cnf?: unknown }): string | undefined {
  if (cnf === undefined) return undefined
  const { jkt } = Object(cnf)
  return typeof jkt === 'string' ? jkt : ''
}
