/** What people would have got on their phones and in their inboxes. */
export interface Mailbox {
  /** Where mail is taken: `127.0.0.1:2525`. */
  readonly smtpAddress: string
  /** Where text messages are taken. */
  readonly smsUrl: string
  /** The newest comes first. */
  list(): readonly MessageSummary[]
  find(id: string): Promise<CaughtMessage | undefined>
  /** The message exactly as it came. */
  readSource(id: string): Promise<Buffer | undefined>
  markRead(id: string): Promise<void>
  /** @returns whether there was one. */
  remove(id: string): Promise<boolean>
  clear(): Promise<void>
  /** Tells of every change. @returns what ends the watch. */
  watch(listener: () => void): () => void
}

export type MessageKind = 'email' | 'sms' | 'whatsapp'

/** What a list shows of a message. */
export interface MessageSummary {
  readonly kind: MessageKind
  /** In the order of arrival. */
  readonly id: string
  /** Milliseconds since the epoch. */
  readonly receivedAt: number
  /** Empty where nobody is named. */
  readonly from: string
  readonly to: readonly string[]
  /** Empty in text messages, and in mails without one. */
  readonly subject: string
  /** How the text begins, on one line. */
  readonly excerpt: string
  /** A code to type in, where the message has one. */
  readonly code?: string | undefined
  readonly sizeBytes: number
  readonly isRead: boolean
}

/** All that a reader needs. */
export interface CaughtMessage extends MessageSummary {
  readonly text: string
  readonly html?: string | undefined
  /** Where the message leads, the main one first. */
  readonly links: readonly MessageLink[]
  readonly attachments: readonly MessageAttachment[]
}

export interface MessageLink {
  readonly url: string
  /** The words that stand for it; empty where there are none. */
  readonly label: string
}

export interface MessageAttachment {
  readonly name: string
  readonly type: string
  readonly content: Uint8Array
  /** By which the HTML shows it, where it does. */
  readonly contentId?: string | undefined
}

/** A message that has just come. */
interface Arrival {
  readonly kind: MessageKind
  readonly to: readonly string[]
  /** Of the envelope, for messages that do not say who sent them. */
  readonly from: string
  readonly source: Buffer
}

/** Keeps a message. Resolves when whoever sent it may forget it. */
export type Deliver = (arrival: Arrival) => Promise<void>
