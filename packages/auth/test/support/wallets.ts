import { ed25519 } from '@noble/curves/ed25519.js'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { base58 } from '@scure/base'

/** A key that signs messages as wallets do. */
export interface TestWallet {
  readonly chain: 'ethereum' | 'solana'
  /** In lower case for Ethereum, as clients of Supabase Auth send it. */
  readonly address: string
  /** The signature in the form of the endpoint. */
  sign(message: string): string
}

export interface EthereumWallet extends TestWallet {
  /** The address with its checksum (EIP-55). */
  readonly checksummed: string
  /** The second signature that any client can compute from the first. */
  signMalleably(message: string): string
  /** The interface that browser extensions offer (EIP-1193). */
  readonly browser: {
    readonly address: string
    request(call: { readonly method: string; readonly params?: unknown }): Promise<unknown>
    on(): void
    removeListener(): void
  }
}

const toHex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

function hashForEthereum(message: string): Uint8Array {
  const bytes = Buffer.from(message)
  const prefix = Buffer.from(`\x19Ethereum Signed Message:\n${bytes.length}`)
  return keccak_256(Buffer.concat([prefix, bytes]))
}

export function createEthereumWallet(): EthereumWallet {
  const secret = secp256k1.utils.randomSecretKey()
  const hash = keccak_256(secp256k1.getPublicKey(secret, false).subarray(1))
  const address = `0x${toHex(hash.subarray(12))}`
  const digits = toHex(keccak_256(Buffer.from(address.slice(2))))
  const signParts = (message: string) => {
    const signed = secp256k1.sign(hashForEthereum(message), secret, {
      prehash: false,
      format: 'recovered',
    })
    return secp256k1.Signature.fromBytes(signed, 'recovered')
  }
  const toText = (bytes: Uint8Array, recovery: number) =>
    `0x${toHex(bytes)}${(27 + recovery).toString(16)}`
  const sign = (message: string) => {
    const signature = signParts(message)
    return toText(signature.toBytes('compact'), signature.recovery ?? 0)
  }
  return {
    chain: 'ethereum',
    address,
    checksummed: [...address]
      .map((digit, at) =>
        at > 1 && Number.parseInt(digits[at - 2] ?? '0', 16) > 7 ? digit.toUpperCase() : digit,
      )
      .join(''),
    sign,
    signMalleably(message) {
      const { r, s, recovery = 0 } = signParts(message)
      const other = new secp256k1.Signature(r, secp256k1.Point.Fn.ORDER - s)
      return toText(other.toBytes('compact'), 1 - recovery)
    },
    browser: {
      address,
      async request({ method, params }) {
        if (method === 'eth_requestAccounts') return [address]
        if (method === 'eth_chainId') return '0x1'
        if (method !== 'personal_sign') throw new Error(`The wallet does not know ${method}`)
        const [message] = params as readonly [hex: string]
        return sign(Buffer.from(message.slice(2), 'hex').toString())
      },
      on: () => {},
      removeListener: () => {},
    },
  }
}

export interface SolanaWallet extends TestWallet {
  /** As a Ledger device signs: in the envelope of off-chain messages. */
  signOffChain(message: string, domain: string): string
  readonly browser: {
    readonly publicKey: { toBase58(): string }
    signMessage(message: Uint8Array): Promise<Uint8Array>
  }
}

export function createSolanaWallet(): SolanaWallet {
  const secret = ed25519.utils.randomSecretKey()
  const key = ed25519.getPublicKey(secret)
  const address = base58.encode(key)
  const sign = (bytes: Uint8Array) => ed25519.sign(bytes, secret)
  return {
    chain: 'solana',
    address,
    sign: (message) => Buffer.from(sign(Buffer.from(message))).toString('base64url'),
    signOffChain(message, domain) {
      const text = Buffer.from(message)
      const parts = [
        Buffer.from('\xffsolana offchain\0', 'latin1'),
        Buffer.from(domain.padEnd(32, '\0')),
        Buffer.of(0, 1),
        key,
        Buffer.of(text.length & 0xff, text.length >> 8),
        text,
      ]
      return Buffer.from(sign(Buffer.concat(parts))).toString('base64')
    },
    browser: {
      publicKey: { toBase58: () => address },
      signMessage: async (message) => sign(message),
    },
  }
}

/** The lines of a message; undefined removes one. */
export interface MessageParts {
  readonly header?: string
  readonly address?: string
  readonly statement?: string
  readonly uri?: string
  readonly version?: string
  readonly chainId?: string | undefined
  readonly nonce?: string | undefined
  readonly issuedAt?: string
  /** Lines after `Issued At`. */
  readonly more?: readonly string[]
}

/** A message in the format of EIP-4361, which wallets for Solana write as well. */
export function writeMessage(
  { chain, address }: TestWallet,
  nowMs: number,
  parts: MessageParts = {},
): string {
  const label = chain === 'ethereum' ? 'Ethereum' : 'Solana'
  const lines = {
    header: `site.example wants you to sign in with your ${label} account:`,
    address,
    statement: 'Sign in to the example',
    uri: 'https://site.example/',
    version: '1',
    chainId: chain === 'ethereum' ? '1' : 'solana:mainnet',
    nonce: undefined,
    issuedAt: new Date(nowMs).toISOString(),
    more: [],
    ...parts,
  }
  return [
    ...[lines.header, lines.address, '', lines.statement, ''],
    ...[`URI: ${lines.uri}`, `Version: ${lines.version}`],
    ...(lines.chainId === undefined ? [] : [`Chain ID: ${lines.chainId}`]),
    ...(lines.nonce === undefined ? [] : [`Nonce: ${lines.nonce}`]),
    ...[`Issued At: ${lines.issuedAt}`, ...lines.more],
  ].join('\n')
}
