import {
  afterWait,
  deferMail,
  type MailAsk,
  mailUser,
  mailWaits,
  userMails,
} from '../../messages/requests/user-mail.ts'
import type { Services } from '../../services.ts'
import { claimsNothing } from '../one-time-codes/one-time-tokens.ts'
import { findUserByEmail } from '../users/statements/find-users.ts'

/** One statement, whether there is such a user or not. @throws {ApiError} */
export function requestRecovery(services: Services, ask: MailAsk): Promise<void> {
  return deferMail(services, ask, mailWaits.recovery, 'recovery')
}

/** Afterwards. @throws {ApiError} */
export async function sendRecovery(services: Services, ask: MailAsk): Promise<void> {
  const [user] = await services.db.run(findUserByEmail, ask)
  if (user === undefined) return
  await mailUser(services, ask, user, afterWait(userMails.recovery), claimsNothing)
}
