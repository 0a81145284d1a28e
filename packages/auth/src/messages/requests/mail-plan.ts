import { randomUUID } from 'node:crypto'
import type { MailConfig } from '../../config/mail/mail.ts'
import type { MailKind } from '../../config/mail/messages.ts'
import { toConfirmationUrl } from '../../features/redirects/confirmation-link.ts'
import type { OneTimeToken, OneTimeTokens, OneTimeTokenType } from '../../tokens/one-time-tokens.ts'
import type { NewFlow, NewMessage, NewToken } from '../statements/request-parts.ts'

/** A request for a message with a one-time token. */
export interface MailRequest {
  readonly kind: MailKind
  readonly tokenType: OneTimeTokenType
  /** The address of the account. */
  readonly email: string
  /** The recipient, if it is not the address of the account. */
  readonly recipient?: string
  readonly newEmail?: string
  /** Already validated. */
  readonly redirectTo: string
  readonly externalUrl: string
  /** Set if the link returns a code instead of tokens. */
  readonly pkce?: Pkce | undefined
}

export interface Pkce {
  readonly challenge: string
  readonly method: 's256' | 'plain'
  /** The method with which the sign-in will be recorded: `email/signup`, `magiclink`, … */
  readonly authenticationMethod: string
}

export interface MailPlan {
  readonly token: NewToken
  readonly flow: NewFlow | null
  readonly message: NewMessage
  /** The following fields are only for `generate_link`, which returns them to administrators. */
  readonly digits: string
  readonly linkToken: string
  readonly actionLink: string
}

/** Creates tokens and messages without storing or sending them. */
export interface MailPlanner {
  plan(request: MailRequest): MailPlan
}

export interface MailPlannerParts {
  readonly config: MailConfig
  readonly siteUrl: string
  readonly oneTimeTokens: OneTimeTokens
  readonly now: () => number
}

export function createMailPlanner(parts: MailPlannerParts): MailPlanner {
  const { config, oneTimeTokens, now } = parts
  return {
    plan(request) {
      const { kind, tokenType, email, recipient = email, externalUrl, pkce } = request
      const token = oneTimeTokens.create(config.otpLength, pkce !== undefined)
      const { tokenHash, otpHash } = oneTimeTokens.store(token, recipient)
      const payload = toMessagePayload(toMessage(request, token, parts))
      return {
        token: {
          token_type: tokenType,
          token_hash: tokenHash.toString('hex'),
          otp_hash: otpHash.toString('hex'),
          relates_to: recipient,
          is_pkce: pkce !== undefined,
          expires_at: new Date(now() + config.otpExpiresInSeconds * 1_000),
        },
        flow: pkce
          ? {
              id: randomUUID(),
              auth_code: randomUUID(),
              code_challenge: pkce.challenge,
              code_challenge_method: pkce.method,
              authentication_method: pkce.authenticationMethod,
            }
          : null,
        message: {
          kind,
          recipient,
          payload: { ...payload, ExternalURL: externalUrl },
          expires_in_seconds: config.otpExpiresInSeconds,
        },
        digits: token.digits,
        linkToken: token.linkToken,
        actionLink: payload.ConfirmationURL ?? '',
      }
    },
  }
}

function toMessage(
  { kind, email, recipient = email, newEmail, redirectTo, externalUrl }: MailRequest,
  { digits, linkToken }: OneTimeToken,
  { config, siteUrl }: MailPlannerParts,
): Message {
  const always = { siteUrl, email, token: digits }
  if (kind === 'reauthentication') return { kind, ...always }
  return {
    kind,
    ...always,
    tokenHash: linkToken,
    redirectTo,
    externalUrl,
    path: config.messages[kind].path,
    ...(newEmail !== undefined && { newEmail, sendingTo: recipient }),
  }
}

type MessageKind = MailKind

/** Values of `Data`, which are the metadata of the user. */
type MessageData = Readonly<Record<string, unknown>>

interface AnyMessage {
  /** SITE_URL */
  readonly siteUrl: string
  /** The address of the account, which may differ from the recipient. */
  readonly email: string
  /** The digits of the code. */
  readonly token: string
  /** user_metadata. Omitted if the statement adds it; see `writeParts`. */
  readonly data?: MessageData
}

/** A message with a code and a link. */
interface LinkMessage extends AnyMessage {
  readonly kind: Exclude<MessageKind, 'reauthentication'>
  /** The link token, with the prefix `pkce_` in a PKCE flow. */
  readonly tokenHash: string
  /** Already validated. */
  readonly redirectTo: string
  /** The result of `toExternalUrl`. */
  readonly externalUrl: string
  /** `config.mail.messages[kind].path` */
  readonly path: string
  /** For an email change: the new address, and the recipient of this copy. */
  readonly newEmail?: string
  readonly sendingTo?: string
}

/** A message with a code only. */
interface CodeMessage extends AnyMessage {
  readonly kind: 'reauthentication'
}

type Message = LinkMessage | CodeMessage

/**
 * The content of the outbox: the variables of the template by their names in templates. The text is
 * rendered when the message is sent, because the template may have to be fetched and requests must
 * not wait for that.
 */
interface MessagePayload {
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
