import type { UserRow } from '../db/user-row.ts'
import { findUserByEmail } from '../db/users.ts'
import { claimsNothing } from './account-claims.ts'
import { resendEmailChange } from './email-change-resend.ts'
import type { Services } from './services.ts'
import {
  type MailAsk,
  type MailWait,
  mailNobody,
  mailUser,
  mailWaits,
  userMails,
} from './user-mail.ts'

interface Resending {
  readonly wait: MailWait
  /** Undefined: nothing waits for an answer. */
  send(services: Services, ask: MailAsk, user: UserRow): Promise<void> | undefined
}

/** By `type`: sends again what still waits for an answer. */
const resendings = {
  signup: {
    wait: mailWaits.confirmation,
    send: (services, ask, user) =>
      user.email_confirmed_at === null
        ? // Whoever asks again need not be who signed up.
          mailUser(services, ask, user, userMails.confirmation, claimsNothing)
        : undefined,
  },
  email_change: {
    wait: mailWaits.emailChange,
    send: (services, ask, user) =>
      user.email_change === null
        ? undefined
        : resendEmailChange(services, ask, { ...user, email_change: user.email_change }),
  },
} as const satisfies Record<string, Resending>
export type ResendType = keyof typeof resendings

/** Reference 3.11. The answer is the same whether anything was to be sent. @throws {ApiError} */
export async function resendEmail(
  services: Services,
  type: ResendType,
  ask: MailAsk,
): Promise<void> {
  const { wait, send } = resendings[type]
  const [user] = await services.db.run<UserRow>(findUserByEmail, [ask.email, ask.audience])
  const sending = user && send(services, ask, user)
  await (sending ?? mailNobody(services, ask, wait))
}
