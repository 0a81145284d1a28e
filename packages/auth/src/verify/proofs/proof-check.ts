import { base64url } from 'jose'
import { checkProof, ProofError } from '../../dpop/proof.ts'
import { TokenError } from '../errors.ts'
import type { ProofOptions, ReceivedRequest } from './options.ts'

/** How far the clock of a client may be ahead. */
const clockToleranceSeconds = 10
const mostProofs = 200_000

/** A request that presents a token with the scheme `DPoP`. */
export interface BoundRequest extends ReceivedRequest {
  readonly accessToken: string
  /** The thumbprint of the key to which the token is bound. */
  readonly boundKey: string
}

/** Returns the function that checks the proof of a request. It throws a `TokenError`. */
export function createProofCheck(options: ProofOptions, now: () => number) {
  const { maxAgeSeconds = 60, claim = createMemory(now) } = options
  const base = new URL(options.url).href.replace(/\/+$/, '')

  return async (request: BoundRequest): Promise<void> => {
    const { dpop, method = '', url = '', accessToken, boundKey } = request
    if (!dpop) throw new TokenError('missing_proof', 'Send a proof of the key in the header DPoP')
    const seen = `${base}${toPath(url)}`
    const proof = await checkProof(dpop, { method, url: seen, accessToken }).catch(
      (error: unknown) => {
        if (!(error instanceof ProofError)) throw error
        throw badProof(`The DPoP proof is not valid: ${error.message}`, error)
      },
    )
    if (proof.thumbprint !== boundKey) {
      throw badProof('The DPoP proof is signed with another key than that of the token')
    }
    const ageSeconds = now() / 1_000 - proof.issuedAt
    if (!(ageSeconds <= maxAgeSeconds && ageSeconds >= -clockToleranceSeconds)) {
      throw badProof('The DPoP proof is too old, or the clock of the client is wrong')
    }
    const expiresAt = Math.ceil(proof.issuedAt + maxAgeSeconds) + 1
    if (!(await claim(base64url.encode(proof.id), expiresAt))) {
      throw badProof('The DPoP proof was used before')
    }
  }
}

function badProof(message: string, cause?: unknown): TokenError {
  return new TokenError('bad_proof', message, { cause })
}

/** Hosts differ in whether they pass the whole URL. */
function toPath(url: string): string {
  if (url.startsWith('/')) return url
  const parsed = URL.parse(url)
  return parsed === null ? '' : `${parsed.pathname}${parsed.search}`
}

/** A map keeps the order of insertion, so the first proof is about the next to expire. */
function createMemory(now: () => number): NonNullable<ProofOptions['claim']> {
  const used = new Map<string, number>()
  return (id, expiresAtSeconds) => {
    for (const [oldest, expiresAt] of used) {
      if (expiresAt * 1_000 > now() && used.size < mostProofs) break
      used.delete(oldest)
    }
    if (used.has(id)) return false
    used.set(id, expiresAtSeconds)
    return true
  }
}
