import { isTaken } from '../../db/violations.ts'
import { ApiError } from '../../errors.ts'
import { toCapParts } from '../../messages/requests/email-limits.ts'
import {
  type MailAsk,
  mailNobody,
  mailUser,
  mailWaits,
  toMailError,
  toMailGap,
  toMailRequest,
  userMails,
} from '../../messages/requests/user-mail.ts'
import type { Services } from '../../services.ts'
import { toAuditEntry } from '../audit/audit.ts'
import type { TokenResponse } from '../sessions/sessions.ts'
import type { Metadata } from '../users/metadata.ts'
import {
  confirmEmail,
  draftEmailUser,
  insertUser,
  type UserDraft,
  unconfirmed,
} from '../users/new-users.ts'
import { findUserByEmail } from '../users/statements/find-users.ts'
import type { UserRow } from '../users/statements/user-row.ts'
import { toUserRecord, type UserRecord } from '../users/user-record.ts'
import { answerRepeatedSignUp } from './repeated-sign-up.ts'
import { signUpAtOnce } from './sign-up-at-once.ts'

export interface EmailSignUp extends MailAsk {
  readonly password: string
  readonly data: Metadata
}

/**
 * Reference 3.3. To somebody who has an account the answer looks like that of a new one, and takes as
 * long. @throws {ApiError}
 */
export async function signUpByEmail(
  services: Services,
  input: EmailSignUp,
): Promise<UserRecord | TokenResponse> {
  const { db, config, passwords } = services
  const [known] = await db.run<UserRow>(findUserByEmail, [input.email, input.audience])
  const hash = await passwords.hash(input.password)
  if (known !== undefined) return repeat(services, input, hash, known)
  const draft = toDraft(services, input)
  try {
    return config.mail.autoconfirm
      ? await signUpAtOnce(services, {
          draft: confirmEmail(draft),
          hash,
          provider: 'email',
          client: input.client,
        })
      : toUserRecord(await createWaiting(services, input, draft, hash))
  } catch (error) {
    if (!isTaken(error, 'users_email')) throw error
    // Somebody was faster, since we looked; or the address belongs to another audience.
    const [other] = await db.run<UserRow>(findUserByEmail, [input.email, input.audience])
    return repeat(services, input, hash, other)
  }
}

function toDraft({ config }: Services, { email, audience, data }: EmailSignUp, id?: string) {
  const role = config.tokens.defaultGroup
  return draftEmailUser(email, { ...(id !== undefined && { id }), aud: audience, role, data })
}

async function createWaiting(
  services: Services,
  input: EmailSignUp,
  draft: UserDraft,
  hash: string,
): Promise<UserRow> {
  const now = new Date(services.now())
  const { token, flow, message } = services.mail.plan(toMailRequest(input, userMails.confirmation))
  const gap = toMailGap(services, input, mailWaits.confirmation)
  const user = await insertUser(services, {
    ...draft,
    ...unconfirmed,
    encrypted_password: hash,
    confirmation_sent_at: now,
    now,
    ip: input.client.ip,
    audit: toAuditEntry('user_confirmation_requested', { ...draft, is_sso_user: false }),
    token: { ...token, claim: { hash, data: draft.raw_user_meta_data } },
    flow,
    messages: [message],
    ...toCapParts(services.config.limits.emailSent),
    ...gap,
  })
  if (user === undefined) throw await toMailError(services, gap, now)
  services.wakeMessages()
  return user
}

/** @param known undefined: the address belongs to another audience. */
async function repeat(
  services: Services,
  input: EmailSignUp,
  hash: string,
  known: UserRow | undefined,
): Promise<UserRecord> {
  const { email, audience, data, client } = input
  const repeated = { name: email, draft: draftEmailUser, audience, data, client }
  if (known?.email_confirmed_at === null) {
    // The password of the account stays until somebody follows the link: it then is this one.
    const data = toDraft(services, input, known.id).raw_user_meta_data
    await mailUser(services, input, known, userMails.confirmation, { hash, data })
    return answerRepeatedSignUp(services, { ...repeated, waiting: known })
  }
  if (services.config.mail.autoconfirm) throw alreadyRegistered()
  // Where no email may go out, to this address or at all, a newcomer would be told so as well.
  await mailNobody(services, input, mailWaits.confirmation)
  return answerRepeatedSignUp(services, {
    ...repeated,
    ...(known && { audit: toAuditEntry('user_repeated_signup', known) }),
  })
}

function alreadyRegistered(): ApiError {
  return new ApiError('user_already_exists', 'User already registered', { status: 400 })
}
