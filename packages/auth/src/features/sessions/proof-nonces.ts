import { createHmac, timingSafeEqual } from 'node:crypto'
import type { KeyRing } from '../../tokens/key-ring.ts'

/** How long a nonce is the newest one. It is accepted for as long again. */
const periodMs = 300_000
/** How long a proof with a nonce can be used at most. */
export const nonceLifetimeMs = 2 * periodMs

/**
 * The nonces of DPoP proofs, which prove when a proof was created (RFC 9449, section 8). They are the same on all
 * servers and are not stored: a nonce is the HMAC of the period in which it is issued.
 */
export interface ProofNonces {
  current(nowMs: number): string
  accepts(nonce: string, nowMs: number): boolean
}

export function createProofNonces(keys: KeyRing): ProofNonces {
  const toNonce = (period: number, key = keys.current()) =>
    createHmac('sha256', key).update(`dpop ${period}`).digest()
  return {
    current: (nowMs) => toNonce(Math.floor(nowMs / periodMs)).toString('base64url'),
    accepts(nonce, nowMs) {
      const given = Buffer.from(nonce, 'base64url')
      const period = Math.floor(nowMs / periodMs)
      return keys
        .all()
        .flatMap((key) => [period, period - 1].map((each) => toNonce(each, key)))
        .some((known) => known.length === given.length && timingSafeEqual(known, given))
    },
  }
}
