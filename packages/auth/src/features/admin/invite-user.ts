import { isTaken } from '../../db/database-errors.ts'
import { toCapError, toCapParts } from '../../messages/requests/message-cooldowns.ts'
import { messageRequests } from '../../messages/statements/request-message.ts'
import { claimsNothing } from '../../messages/statements/request-parts.ts'
import type { Services } from '../../services.ts'
import type { Metadata } from '../../stored-json.ts'
import { toAdminEntry } from '../audit/audit.ts'
import type { Client } from '../sessions/sessions.ts'
import { draftEmailUser, insertUser, unconfirmed } from '../user-changes/new-users.ts'
import { findUserByEmail, type UserRow } from '../users/statements/user-row.ts'
import { emailExists } from '../users/taken-errors.ts'
import { toUserRecord, type UserRecord } from '../users/user-record.ts'

export interface Invitation {
  readonly email: string
  readonly data: Metadata
  readonly audience: string
  readonly adminRole: string
  readonly client: Client
  readonly redirectTo: string
  readonly externalUrl: string
}

/** Invites a user, or repeats an invitation that has not been accepted. @throws {ApiError} */
export async function inviteUser(services: Services, input: Invitation): Promise<UserRecord> {
  const { email, audience } = input
  await services.emailCheck?.check(email)
  const [known] = await services.db.run(findUserByEmail, { email, audience })
  const now = new Date(services.now())
  const user =
    known === undefined
      ? await inviteNew(services, input, now)
      : await inviteAgain(services, input, known, now)
  if (user === undefined) throw await toCapError(services, 'email', now)
  services.wakeMessages()
  return toUserRecord(user)
}

async function inviteNew(
  services: Services,
  input: Invitation,
  now: Date,
): Promise<UserRow | undefined> {
  const { db } = services
  const draft = toDraft(services, input)
  try {
    const user = await insertUser(services, {
      ...draft,
      ...unconfirmed,
      // The metadata as given: nothing is copied from the identity.
      raw_user_meta_data: input.data,
      invited_at: now,
      confirmation_sent_at: now,
      admin_data: { user_metadata: input.data },
      ...toParts(services, input, draft.id, now),
    })
    return user
  } catch (error) {
    if (!isTaken(error, 'users_email')) throw error
    // The address was registered in the meantime, or it belongs to another audience.
    const { email, audience } = input
    const [known] = await db.run(findUserByEmail, { email, audience })
    if (known === undefined) throw emailExists()
    return inviteAgain(services, input, known, now)
  }
}

async function inviteAgain(
  services: Services,
  input: Invitation,
  known: UserRow,
  now: Date,
): Promise<UserRow | undefined> {
  if (known.email_confirmed_at !== null) throw emailExists()
  const [user] = await services.db.run(messageRequests.confirmation_sent_at, {
    user_id: known.id,
    // No cooldown: an administrator may repeat an invitation at any time.
    own_gap_seconds: null,
    invited_at: now,
    admin_metadata: input.data,
    ...toParts(services, input, known.id, now),
  })
  return user
}

function toDraft({ config }: Services, { email, audience, data }: Invitation) {
  return draftEmailUser(email, { aud: audience, role: config.tokens.defaultGroup, data })
}

function toParts({ mail, config }: Services, input: Invitation, userId: string, now: Date) {
  const { email, adminRole, client, redirectTo, externalUrl } = input
  const { token, message } = mail.plan({
    kind: 'invite',
    tokenType: 'confirmation',
    email,
    redirectTo,
    externalUrl,
  })
  return {
    now,
    ip: client.ip,
    audit: toAdminEntry('user_invited', adminRole, { user_id: userId, user_email: email }),
    token: { ...token, claim: claimsNothing },
    flow: null,
    messages: [message],
    ...toCapParts(config.limits.emailSent),
  }
}
