/** Catches emails and text messages instead of delivering them. */
export interface Mailbox {
  /** Host and port of the SMTP server, such as `127.0.0.1:2525`. */
  readonly smtpAddress: string
  /** The URL that accepts text messages. */
  readonly smsUrl: string
  /** Newest first. */
  list(): readonly MessageSummary[]
  find(id: string): Promise<CaughtMessage | undefined>
  /** Returns the message as it was received. */
  readSource(id: string): Promise<Buffer | undefined>
  markRead(id: string): Promise<void>
  /** @returns whether the message existed. */
  remove(id: string): Promise<boolean>
  clear(): Promise<void>
  /** Calls the listener on every change. @returns a function that stops the watch. */
  watch(listener: () => void): () => void
}

export type MessageKind = 'email' | 'sms' | 'whatsapp'

/** The part of a message that lists show. */
export interface MessageSummary {
  readonly kind: MessageKind
  /** Ids sort by time of arrival. */
  readonly id: string
  /** Milliseconds since the epoch. */
  readonly receivedAt: number
  /** Empty if the sender is unknown. */
  readonly from: string
  readonly to: readonly string[]
  /** Empty for text messages and for mails without a subject. */
  readonly subject: string
  /** The start of the text on one line. */
  readonly excerpt: string
  /** A one-time code, if the message contains one. */
  readonly code?: string | undefined
  readonly sizeBytes: number
  readonly isRead: boolean
}

export interface CaughtMessage extends MessageSummary {
  readonly text: string
  readonly html?: string | undefined
  /** The links in the message, the main one first. */
  readonly links: readonly MessageLink[]
  readonly attachments: readonly MessageAttachment[]
}

export interface MessageLink {
  readonly url: string
  /** The link text; empty if there is none. */
  readonly label: string
}

export interface MessageAttachment {
  readonly name: string
  readonly type: string
  readonly content: Uint8Array
  /** The id by which the HTML refers to it, if it does. */
  readonly contentId?: string | undefined
}

/** A received message that is not stored yet. */
interface Arrival {
  readonly kind: MessageKind
  readonly to: readonly string[]
  /** The envelope sender, for messages without a From header. */
  readonly from: string
  readonly source: Buffer
}

/** Stores a message. Resolves once it is stored, so that its receipt can be confirmed. */
export type Deliver = (arrival: Arrival) => Promise<void>
