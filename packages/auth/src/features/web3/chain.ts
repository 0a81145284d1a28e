export type ChainName = 'ethereum' | 'solana'

/** What the owner of an address has signed. */
export interface SignedText {
  readonly text: string
  /** The host, with its port, that the wallet has shown to the user. */
  readonly domain: string
  /** As in the message; see `Chain.toAddress` for its normal form. */
  readonly address: string
}

/** What differs between the blockchains whose wallets can sign in. */
export interface Chain {
  readonly name: ChainName
  /** As in the first line of a message. */
  readonly label: string
  /** Whether the fields of a message have the order of EIP-4361. */
  readonly hasFixedOrder: boolean
  /** The normal form of an address; undefined if the address is invalid. */
  toAddress(text: string): string | undefined
  /** The forms in which Supabase Auth may have stored an address, besides the normal form. */
  toOtherForms(address: string): readonly string[]
  /** @param text empty if the message has no chain ID. */
  isChainId(text: string): boolean
  /** Undefined if the signature does not have the right format. */
  readSignature(text: string): Uint8Array | undefined
  /** Whether the owner of the address has signed the message. */
  verify(message: SignedText, signature: Uint8Array): boolean
}
