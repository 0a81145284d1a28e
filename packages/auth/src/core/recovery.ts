import type { UserRow } from '../db/user-row.ts'
import { findUserByEmail } from '../db/users.ts'
import { claimsNothing } from './account-claims.ts'
import type { Services } from './services.ts'
import { afterWait, deferMail, type MailAsk, mailUser, mailWaits, userMails } from './user-mail.ts'

/** One statement, whether there is such a user or not. @throws {ApiError} */
export function requestRecovery(services: Services, ask: MailAsk): Promise<void> {
  return deferMail(services, ask, mailWaits.recovery, 'recovery')
}

/** Afterwards. @throws {ApiError} */
export async function sendRecovery(services: Services, ask: MailAsk): Promise<void> {
  const [user] = await services.db.run<UserRow>(findUserByEmail, [ask.email, ask.audience])
  if (user === undefined) return
  await mailUser(services, ask, user, afterWait(userMails.recovery), claimsNothing)
}
