import {
  afterWait,
  deferMail,
  type MailAsk,
  type MailWait,
  mailUser,
  mailWaits,
  userMails,
} from '../../messages/requests/user-mail.ts'
import type { Services } from '../../services.ts'
import { claimsNothing } from '../one-time-codes/account-claims.ts'
import { findUserByEmail } from '../users/statements/find-users.ts'
import type { UserRow } from '../users/statements/user-row.ts'
import { resendEmailChange } from './email-change-resend.ts'

interface Resending {
  readonly wait: MailWait
  /** Does nothing where nothing waits for an answer. */
  send(services: Services, ask: MailAsk, user: UserRow): Promise<void>
}

/** By `type`: sends again what still waits for an answer. */
const resendings = {
  signup: {
    wait: mailWaits.confirmation,
    async send(services, ask, user) {
      if (user.email_confirmed_at !== null) return
      // Whoever asks again need not be who signed up.
      await mailUser(services, ask, user, afterWait(userMails.confirmation), claimsNothing)
    },
  },
  email_change: {
    wait: mailWaits.emailChange,
    async send(services, ask, user) {
      const { email_change } = user
      if (email_change !== null) await resendEmailChange(services, ask, { ...user, email_change })
    },
  },
} as const satisfies Record<string, Resending>
export type ResendType = keyof typeof resendings

/** The answer is the same whether anything is to be sent. One statement. @throws {ApiError} */
export function resendEmail(services: Services, type: ResendType, ask: MailAsk): Promise<void> {
  return deferMail(services, ask, resendings[type].wait, `resend_${type}`)
}

/** Afterwards. @throws {ApiError} */
export async function sendEmailAgain(
  services: Services,
  type: ResendType,
  ask: MailAsk,
): Promise<void> {
  const [user] = await services.db.run<UserRow>(findUserByEmail, [ask.email, ask.audience])
  if (user !== undefined) await resendings[type].send(services, ask, user)
}
