import type { MessageKind } from './mailbox.ts'

/** A message that has just come. */
export interface Arrival {
  readonly kind: MessageKind
  readonly to: readonly string[]
  /** Of the envelope, for messages that do not say who sent them. */
  readonly from: string
  readonly source: Buffer
}

/** Keeps a message. Resolves when whoever sent it may forget it. */
export type Deliver = (arrival: Arrival) => Promise<void>
