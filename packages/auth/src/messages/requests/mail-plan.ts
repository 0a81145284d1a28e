import type { MailKind } from '../../config/mail-messages.ts'
import type { OneTimeTokenType } from '../../features/one-time-codes/one-time-tokens.ts'
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
