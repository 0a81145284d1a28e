import { createHash, randomUUID } from 'node:crypto'
import {
  type CryptoKey,
  calculateJwkThumbprint,
  exportJWK,
  generateKeyPair,
  type JWK,
  SignJWT,
} from 'jose'

/** What a proof states. A value of undefined leaves the claim out. */
export type ProofClaims = Readonly<Record<string, unknown>>

/** The key of a client, with which it creates DPoP proofs. */
export interface ProofKey {
  readonly privateKey: CryptoKey
  readonly publicJwk: JWK
  readonly thumbprint: string
  /** Creates the header `DPoP` of a request. */
  prove(method: string, url: string, claims?: ProofClaims, header?: object): Promise<string>
}

export async function createProofKey(
  nowMs: () => number = Date.now,
  algorithm = 'ES256',
): Promise<ProofKey> {
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true })
  const publicJwk = await exportJWK(publicKey)
  return {
    privateKey,
    publicJwk,
    thumbprint: await calculateJwkThumbprint(publicJwk),
    prove: (method, url, claims = {}, header = {}) => {
      const iat = Math.floor(nowMs() / 1_000)
      return new SignJWT({ jti: randomUUID(), htm: method, htu: url, iat, ...claims })
        .setProtectedHeader({ alg: algorithm, typ: 'dpop+jwt', jwk: publicJwk, ...header })
        .sign(privateKey)
    },
  }
}

/** The hash of an access token, as a proof has it. */
export function toAth(token: string): string {
  return createHash('sha256').update(token).digest('base64url')
}
