import { ed25519 } from '@noble/curves/ed25519.js'
import { base58 } from '@scure/base'
import type { Chain } from './chain.ts'

/** Standard or URL-safe base64 of 64 bytes. */
const signaturePattern = /^[A-Za-z0-9+/_-]{86}(?:==)?$/

export const solana: Chain = {
  name: 'solana',
  label: 'Solana',
  hasFixedOrder: false,

  toAddress: (text) => (readKey(text) === undefined ? undefined : text),

  // Base58 distinguishes case, so an address has only one form.
  toOtherForms: () => [],

  isChainId: (text) => text === '' || /^solana:(?:main|dev|test|local)net$/.test(text),

  readSignature: (text) =>
    signaturePattern.test(text) ? Buffer.from(text, 'base64url') : undefined,

  verify({ text, domain, address }, signature) {
    const key = readKey(address)
    if (key === undefined) return false
    const bytes = Buffer.from(text)
    return (
      isSigned(bytes, signature, key) || isSigned(toOffChain(bytes, domain, key), signature, key)
    )
  },
}

function readKey(address: string): Uint8Array | undefined {
  if (!/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(address)) return undefined
  const key = base58.decode(address)
  return key.length === 32 ? key : undefined
}

/**
 * RFC 8032 without the exceptions of ZIP 215: keys of small order, to which any client can find
 * signatures, and second forms of a signature are refused.
 */
function isSigned(bytes: Uint8Array, signature: Uint8Array, key: Uint8Array): boolean {
  return ed25519.verify(signature, bytes, key, { zip215: false })
}

/** Ledger devices sign texts in the envelope of Solana's off-chain messages, version 0. */
function toOffChain(text: Buffer, domain: string, key: Uint8Array): Uint8Array {
  const application = Buffer.alloc(32)
  application.write(domain)
  const length = Buffer.alloc(2)
  length.writeUInt16LE(text.length)
  return Buffer.concat([
    Buffer.from('\xffsolana offchain', 'latin1'),
    // Version 0.
    Buffer.of(0),
    application,
    // ASCII, by one signer.
    Buffer.of(0, 1),
    key,
    length,
    text,
  ])
}
