import type { UserRow } from '../db/user-row.ts'
import { findUserByEmail } from '../db/users.ts'
import { claimsNothing } from './account-claims.ts'
import type { Services } from './services.ts'
import { type MailAsk, mailNobody, mailUser, mailWaits, userMails } from './user-mail.ts'

/** Reference 3.10. Two statements, whether there is such a user or not. @throws {ApiError} */
export async function requestRecovery(services: Services, ask: MailAsk): Promise<void> {
  const [user] = await services.db.run<UserRow>(findUserByEmail, [ask.email, ask.audience])
  if (user === undefined) return mailNobody(services, ask, mailWaits.recovery)
  return mailUser(services, ask, user, userMails.recovery, claimsNothing)
}
