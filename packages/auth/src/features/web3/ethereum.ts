import { secp256k1 } from '@noble/curves/secp256k1.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import type { Chain } from './chain.ts'

const addressPattern = /^0x[0-9a-fA-F]{40}$/
const signaturePattern = /^(?:0x)?[0-9a-fA-F]{130}$/

/** Accounts with a private key. Contracts have none, so their signatures (EIP-1271) are refused. */
export const ethereum: Chain = {
  name: 'ethereum',
  label: 'Ethereum',
  hasFixedOrder: true,

  /** An address of both upper and lower case has a checksum (EIP-55). */
  toAddress(text) {
    if (!addressPattern.test(text)) return undefined
    const digits = text.slice(2)
    const hasChecksum = /[a-f]/.test(digits) && /[A-F]/.test(digits)
    const address = text.toLowerCase()
    return hasChecksum && text !== addChecksum(address) ? undefined : address
  },

  toOtherForms: (address) => [addChecksum(address)],

  isChainId: (text) => /^[1-9]\d{0,15}$/.test(text),

  readSignature: (text) =>
    signaturePattern.test(text) ? Buffer.from(text.replace(/^0x/, ''), 'hex') : undefined,

  verify({ text, address }, signature) {
    const recovery = toRecovery(signature[64])
    if (recovery === undefined) return false
    try {
      const parsed = secp256k1.Signature.fromBytes(signature.subarray(0, 64), 'compact')
      // Any client can compute from a signature a second one, with a high s (EIP-2).
      if (parsed.hasHighS()) return false
      const key = parsed.addRecoveryBit(recovery).recoverPublicKey(hashMessage(text))
      const hash = keccak_256(key.toBytes(false).subarray(1))
      return `0x${Buffer.from(hash.subarray(12)).toString('hex')}` === address.toLowerCase()
    } catch {
      // The numbers of the signature are not on the curve.
      return false
    }
  },
}

/** EIP-191, version 0x45: a signed text can never be a transaction. */
function hashMessage(text: string): Uint8Array {
  const bytes = Buffer.from(text)
  return keccak_256(
    Buffer.concat([Buffer.from(`\x19Ethereum Signed Message:\n${bytes.length}`), bytes]),
  )
}

/** Wallets send 27 or 28; some devices send 0 or 1. */
function toRecovery(byte: number | undefined): 0 | 1 | undefined {
  if (byte === 0 || byte === 27) return 0
  return byte === 1 || byte === 28 ? 1 : undefined
}

/** EIP-55: a letter is in upper case if the digit of the hash at its place is 8 or more. */
function addChecksum(address: string): string {
  const digits = address.slice(2)
  const hash = Buffer.from(keccak_256(Buffer.from(digits))).toString('hex')
  const mixed = [...digits].map((digit, at) =>
    Number.parseInt(hash[at] ?? '0', 16) >= 8 ? digit.toUpperCase() : digit,
  )
  return `0x${mixed.join('')}`
}
