import { randomUUID } from 'node:crypto'
import type { MailConfig } from '../../config/mail.ts'
import type { MailKind } from '../../config/mail-messages.ts'
import type {
  OneTimeToken,
  OneTimeTokens,
  OneTimeTokenType,
} from '../../features/one-time-codes/one-time-tokens.ts'
import type { NewFlow, NewMessage, NewToken } from '../statements/request-parts.ts'
import { type Message, toMessagePayload } from './message.ts'

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
