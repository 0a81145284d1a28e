import type { MailKind } from '../../config/mail.ts'
import type { AuditAction } from '../audit/audit.ts'
import type { OneTimeTokenType } from '../one-time-codes/one-time-tokens.ts'

interface LinkDefinition {
  readonly kind: MailKind
  readonly tokenType: OneTimeTokenType
  readonly action: AuditAction
  /** Which time of the user says when the last such link was made. */
  readonly sentColumn?: 'confirmation_sent_at' | 'recovery_sent_at'
  /** For those only who have confirmed no address yet. */
  readonly refusesConfirmed: boolean
  readonly changesEmail: boolean
}

const first = {
  tokenType: 'confirmation',
  sentColumn: 'confirmation_sent_at',
  refusesConfirmed: true,
  changesEmail: false,
} as const
const again = {
  tokenType: 'recovery',
  sentColumn: 'recovery_sent_at',
  action: 'user_recovery_requested',
  refusesConfirmed: false,
  changesEmail: false,
} as const
const change = {
  kind: 'email_change',
  action: 'user_modified',
  refusesConfirmed: false,
  changesEmail: true,
} as const

const definitions = {
  signup: { ...first, kind: 'confirmation', action: 'user_confirmation_requested' },
  invite: { ...first, kind: 'invite', action: 'user_invited' },
  magiclink: { ...again, kind: 'magic_link' },
  recovery: { ...again, kind: 'recovery' },
  email_change_current: { ...change, tokenType: 'email_change_current' },
  email_change_new: { ...change, tokenType: 'email_change_new' },
} as const satisfies Readonly<Record<string, LinkDefinition>>

export type LinkType = keyof typeof definitions

/** By the `type` of the request. */
export const linkTypes: Readonly<Record<LinkType, LinkDefinition>> = definitions

export function isLinkType(type: string): type is LinkType {
  return Object.hasOwn(linkTypes, type)
}
