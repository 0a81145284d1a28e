import { randomUUID } from 'node:crypto'
import type { MailConfig } from '../../config/mail.ts'
import type { MailKind } from '../../config/mail-messages.ts'
import type {
  OneTimeToken,
  OneTimeTokens,
  OneTimeTokenType,
} from '../../features/one-time-codes/one-time-tokens.ts'
import { toConfirmationUrl } from '../../features/redirects/confirmation-link.ts'
import type { NewFlow, NewMessage, NewToken } from '../statements/request-parts.ts'

/** A message with a one-time token, still to be written. */
export interface MailRequest {
  readonly kind: MailKind
  readonly tokenType: OneTimeTokenType
  /** The address of the account. */
  readonly email: string
  /** Where it goes, if not there. */
  readonly recipient?: string
  readonly newEmail?: string
  /** Checked already. */
  readonly redirectTo: string
  readonly externalUrl: string
  /** Where the link leads to a code instead of tokens. */
  readonly pkce?: Pkce | undefined
}

export interface Pkce {
  readonly challenge: string
  readonly method: 's256' | 'plain'
  /** How the user will have signed in: `email/signup`, `magiclink`, … */
  readonly authenticationMethod: string
}

export interface MailPlan {
  readonly token: NewToken
  readonly flow: NewFlow | null
  readonly message: NewMessage
  /** For who may see them: `generate_link`. */
  readonly digits: string
  readonly linkToken: string
  readonly actionLink: string
}

/** Makes tokens and messages; writes and sends nothing. */
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

/** Values inside `Data`, which are whatever users put into their metadata. */
type MessageData = Readonly<Record<string, unknown>>

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
interface LinkMessage extends AnyMessage {
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
interface CodeMessage extends AnyMessage {
  readonly kind: 'reauthentication'
}

type Message = LinkMessage | CodeMessage

/**
 * What waits in the outbox: the variables of the template, by the names that templates know them
 * by (reference 11.2). The text itself is made when the message leaves, because a template may have
 * to be fetched, and no request waits for that.
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
