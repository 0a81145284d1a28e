/** What people would have got on their phones and in their inboxes. The newest comes first. */
export interface Mailbox {
  list(): readonly CaughtMessage[]
  find(id: string): CaughtMessage | undefined
  remove(id: string): void
  clear(): void
  /** @returns what ends the watch. */
  watch(listener: () => void): () => void
}

export type CaughtMessage = CaughtEmail | CaughtText

export interface CaughtEmail {
  readonly kind: 'email'
  readonly id: string
  /** Milliseconds since the epoch. */
  readonly receivedAt: number
  readonly from: string
  readonly to: readonly string[]
  readonly subject: string
  readonly text: string
  readonly html: string | undefined
  /** Addresses that the message leads to, the main one first. */
  readonly links: readonly string[]
  /** A code to type in, where the message has one. */
  readonly code: string | undefined
}

export interface CaughtText {
  readonly kind: 'sms' | 'whatsapp'
  readonly id: string
  readonly receivedAt: number
  readonly to: readonly string[]
  readonly text: string
  readonly code: string | undefined
}
