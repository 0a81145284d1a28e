import type { MailKind } from '../../config/mail-messages.ts'
import { toConfirmationUrl } from '../../features/redirects/confirmation-link.ts'

export type MessageKind = MailKind

/** Values inside `Data`, which are whatever users put into their metadata. */
export type MessageData = Readonly<Record<string, unknown>>

interface AnyMessage {
  /** SITE_URL */
  readonly siteUrl: string
  /** The address of the account, which need not be the one the message goes to. */
  readonly email: string
  /** The digits of the code. */
  readonly token: string
  /** user_metadata. May be left out where the statement adds it: see `insertMessage`. */
  readonly data?: MessageData
}

/** A message with a code and a link. */
export interface LinkMessage extends AnyMessage {
  readonly kind: Exclude<MessageKind, 'reauthentication'>
  /** The link token, with `pkce_` before it where the flow is PKCE. */
  readonly tokenHash: string
  /** Checked already. */
  readonly redirectTo: string
  /** Of `toExternalUrl`. */
  readonly externalUrl: string
  /** `config.mail.messages[kind].path` */
  readonly path: string
  /** Of a change of address: the new one, and the one this copy goes to. */
  readonly newEmail?: string
  readonly sendingTo?: string
}

/** A message with a code only. */
export interface CodeMessage extends AnyMessage {
  readonly kind: 'reauthentication'
}

export type Message = LinkMessage | CodeMessage

/**
 * What waits in the outbox: the variables of the template, by the names that templates know them
 * by (reference 11.2). The text itself is made when the message leaves, because a template may have
 * to be fetched, and no request waits for that.
 */
export interface MessagePayload {
  readonly SiteURL: string
  readonly Email: string
  readonly Token: string
  readonly Data: MessageData
  readonly ConfirmationURL?: string
  readonly TokenHash?: string
  readonly RedirectTo?: string
  readonly NewEmail?: string
  readonly SendingTo?: string
}

export function toMessagePayload(message: Message): MessagePayload {
  const { siteUrl, email, token, data = {} } = message
  const always = { SiteURL: siteUrl, Email: email, Token: token, Data: data }
  if (message.kind === 'reauthentication') return always
  const { tokenHash, redirectTo, newEmail, sendingTo } = message
  return {
    ...always,
    ConfirmationURL: toConfirmationUrl(message),
    TokenHash: tokenHash,
    RedirectTo: redirectTo,
    ...(newEmail === undefined ? {} : { NewEmail: newEmail }),
    ...(sendingTo === undefined ? {} : { SendingTo: sendingTo }),
  }
}
