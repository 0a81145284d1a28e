import { askEmailCap } from '../db/email-cap.ts'
import { messageRequests } from '../db/request-message.ts'
import type { UserRow } from '../db/user-row.ts'
import { type AuditAction, toAuditEntry } from './audit.ts'
import { secondsUntilDue, toCapError, toCapParts } from './email-limits.ts'
import type { MailRequest } from './mail-plan.ts'
import type { Challenge } from './pkce.ts'
import type { Services } from './services.ts'
import type { Client } from './sessions.ts'

/** Somebody asks for a message to an address, whoever they are. */
export interface MailAsk {
  readonly email: string
  readonly audience: string
  readonly client: Client
  readonly challenge: Challenge | undefined
  /** Checked already. */
  readonly redirectTo: string
  readonly externalUrl: string
}

interface UserMail {
  readonly kind: MailRequest['kind']
  readonly tokenType: 'confirmation' | 'recovery'
  /** When the user was last sent one. */
  readonly sentAt: 'confirmation_sent_at' | 'recovery_sent_at'
  readonly authenticationMethod: string
  readonly action: AuditAction
  readonly gap: 'gapMs' | 'magicLinkGapMs'
}

export const userMails = {
  confirmation: {
    kind: 'confirmation',
    tokenType: 'confirmation',
    sentAt: 'confirmation_sent_at',
    authenticationMethod: 'email/signup',
    action: 'user_confirmation_requested',
    gap: 'gapMs',
  },
  recovery: {
    kind: 'recovery',
    tokenType: 'recovery',
    sentAt: 'recovery_sent_at',
    authenticationMethod: 'recovery',
    action: 'user_recovery_requested',
    gap: 'gapMs',
  },
  magicLink: {
    kind: 'magic_link',
    tokenType: 'recovery',
    sentAt: 'recovery_sent_at',
    authenticationMethod: 'magiclink',
    action: 'user_recovery_requested',
    gap: 'magicLinkGapMs',
  },
} as const satisfies Record<string, UserMail>

/**
 * Sends a message to a user, unless they were sent one just now. The caller is not told which: to be
 * told to wait would tell that there is such a user. @throws {ApiError} when no email may go out.
 */
export async function mailUser(
  services: Services,
  ask: MailAsk,
  user: UserRow,
  mail: UserMail,
): Promise<void> {
  const { db, config } = services
  const now = new Date(services.now())
  const gapMs = config.mail[mail.gap]
  if (secondsUntilDue(user[mail.sentAt], gapMs, now.getTime()) > 0) return mailNobody(services)
  const { token, flow, message } = services.mail.plan(toMailRequest(ask, mail))
  const [sent] = await db.run(messageRequests[mail.sentAt], [
    {
      user_id: user.id,
      gap_seconds: gapMs / 1_000,
      invited_at: null,
      now,
      ip: ask.client.ip,
      audit: toAuditEntry(mail.action, user),
      token,
      flow,
      messages: [message],
      ...toCapParts(config.limits.emailSent),
    },
  ])
  // Either nothing may go out, or another request has just sent one.
  if (sent === undefined) return mailNobody(services)
  services.wakeMessages()
}

/** What `mailUser` would do, for a user who does not exist or needs no message. */
export async function mailNobody({ db, config, now: readClock }: Services): Promise<void> {
  const { emailSent } = config.limits
  const now = new Date(readClock())
  const [room] = await db.run(askEmailCap, [emailSent.most, emailSent.refillMs ?? null, now])
  if (room === undefined) throw await toCapError(db, emailSent, now)
}

export function toMailRequest(ask: MailAsk, mail: UserMail): MailRequest {
  const { email, redirectTo, externalUrl, challenge } = ask
  const { kind, tokenType, authenticationMethod } = mail
  return {
    kind,
    tokenType,
    email,
    redirectTo,
    externalUrl,
    pkce: challenge && { ...challenge, authenticationMethod },
  }
}
