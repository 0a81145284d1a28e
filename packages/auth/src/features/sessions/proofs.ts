import {
  checkProof,
  type Proof,
  ProofError,
  type ProvenRequest,
  proofAlgorithms,
} from '../../dpop/proof.ts'
import { ApiError } from '../../errors.ts'
import type { Services } from '../../services.ts'
import { nonceLifetimeMs } from './proof-nonces.ts'
import { claimProof } from './statements/proofs.ts'

/** How old a proof without a nonce may be, and how far a clock may be ahead. */
const longestAgeMs = 60_000
const clockToleranceMs = 10_000

/** A request with its DPoP proof, if it has one. */
export interface ProvableRequest extends ProvenRequest {
  /** The header `DPoP`. */
  readonly proof: string | undefined
}

type ProofServices = Pick<Services, 'db' | 'now' | 'config' | 'proofNonces'>

/**
 * Checks the proof of a request, and that it is used only once.
 * @param boundKey the thumbprint of the key that must have signed it. Undefined: any key.
 * @returns the thumbprint of its key.
 * @throws {ApiError}
 */
export async function acceptProof(
  services: ProofServices,
  { proof: text = '', ...request }: ProvableRequest,
  boundKey?: string,
): Promise<string> {
  const proof = await checkProof(text, request).catch((error: unknown) => {
    if (!(error instanceof ProofError)) throw error
    throw refusedProof(`The DPoP proof is not valid: ${error.message}`, error)
  })
  if (boundKey !== undefined && proof.thumbprint !== boundKey) {
    throw refusedProof('The DPoP proof is signed with another key than that of the token')
  }
  const expiresAt = checkFreshness(services, proof)
  const [claimed] = await services.db.run(claimProof, { key: Buffer.from(proof.id), expiresAt })
  if (claimed === undefined) throw refusedProof('The DPoP proof was used before')
  return proof.thumbprint
}

/**
 * A nonce proves when the proof was created, and otherwise the clock of the client.
 * @returns until when the proof could be used again.
 * @throws {ApiError}
 */
function checkFreshness(
  { config, now, proofNonces }: ProofServices,
  { nonce, issuedAt }: Proof,
): Date {
  const nowMs = now()
  if (nonce !== undefined && proofNonces.accepts(nonce, nowMs)) {
    return new Date(nowMs + nonceLifetimeMs)
  }
  const ageMs = nowMs - issuedAt * 1_000
  const isNew = ageMs <= longestAgeMs && ageMs >= -clockToleranceMs
  if (isNew && nonce === undefined && !config.oauthServer.requiresProofNonces) {
    return new Date(nowMs + longestAgeMs + clockToleranceMs)
  }
  // A client whose clock is wrong continues with the nonce.
  const reason = isNew
    ? 'The DPoP proof needs the nonce'
    : 'The DPoP proof is not new. Repeat it with the nonce'
  throw new ApiError('bad_jwt', `${reason} of the header DPoP-Nonce`, {
    status: 400,
    oauthError: 'use_dpop_nonce',
    proofNonce: proofNonces.current(nowMs),
  })
}

/** RFC 9449, section 5. */
export function refusedProof(message: string, cause?: unknown): ApiError {
  return new ApiError('bad_jwt', message, { status: 400, oauthError: 'invalid_dpop_proof', cause })
}

/** The error for a request to an API, which names it in `WWW-Authenticate` (RFC 9449, section 7.1). */
export function toChallenge(error: ApiError): ApiError {
  const { code, message, oauthError = 'invalid_token', proofNonce, cause } = error
  return new ApiError(code, message, {
    status: 401,
    oauthError,
    authenticate: `DPoP error="${oauthError}", algs="${proofAlgorithms.join(' ')}"`,
    ...(proofNonce !== undefined && { proofNonce }),
    cause,
  })
}
