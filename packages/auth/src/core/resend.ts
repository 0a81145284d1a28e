import type { UserRow } from '../db/user-row.ts'
import { findUserByEmail } from '../db/users.ts'
import { resendEmailChange } from './email-change-resend.ts'
import type { Services } from './services.ts'
import { type MailAsk, mailNobody, mailUser, userMails } from './user-mail.ts'

/** By `type`: sends again what still waits for an answer. */
const resendings = {
  signup: async (services: Services, ask: MailAsk, user: UserRow) =>
    user.email_confirmed_at === null
      ? mailUser(services, ask, user, userMails.confirmation)
      : mailNobody(services),
  email_change: async (services: Services, ask: MailAsk, user: UserRow) =>
    user.email_change === null
      ? mailNobody(services)
      : resendEmailChange(services, ask, { ...user, email_change: user.email_change }),
} as const
export type ResendType = keyof typeof resendings

/** Reference 3.11. The answer is the same whether anything was to be sent. @throws {ApiError} */
export async function resendEmail(
  services: Services,
  type: ResendType,
  ask: MailAsk,
): Promise<void> {
  const [user] = await services.db.run<UserRow>(findUserByEmail, [ask.email, ask.audience])
  if (user === undefined) return mailNobody(services)
  return resendings[type](services, ask, user)
}
