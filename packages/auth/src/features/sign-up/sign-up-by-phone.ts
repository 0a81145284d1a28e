import { isTaken } from '../../db/violations.ts'
import { ApiError } from '../../errors.ts'
import { planCode } from '../../messages/requests/phone-codes.ts'
import { requireGateway } from '../../messages/requests/phone-gateway.ts'
import {
  type PhoneAsk,
  textNobody,
  textUser,
  toConfirmation,
  toTextError,
  toTextGap,
} from '../../messages/requests/phone-messages.ts'
import type { Services } from '../../services.ts'
import { toAuditEntry } from '../audit/audit.ts'
import type { TokenResponse } from '../sessions/sessions.ts'
import type { Metadata } from '../users/metadata.ts'
import {
  confirmPhone,
  draftPhoneUser,
  insertUser,
  type UserDraft,
  unconfirmed,
} from '../users/new-users.ts'
import { findUserByPhone } from '../users/statements/find-users.ts'
import type { UserRow } from '../users/statements/user-row.ts'
import { toUserRecord, type UserRecord } from '../users/user-record.ts'
import { answerRepeatedSignUp } from './repeated-sign-up.ts'
import { signUpAtOnce } from './sign-up-at-once.ts'

export interface PhoneSignUp extends PhoneAsk {
  readonly password: string
  readonly data: Metadata
}

/**
 * Reference 3.3. To somebody who has an account the answer looks like that of a new one, and takes as
 * long, save where numbers are not confirmed: there it says so (D6). @throws {ApiError}
 */
export async function signUpByPhone(
  services: Services,
  input: PhoneSignUp,
): Promise<UserRecord | TokenResponse> {
  const { db, config, passwords } = services
  const { autoconfirm } = config.sms
  if (!autoconfirm) requireGateway(services, input.phone, 'confirmation')
  const find = async () =>
    (await db.run<UserRow>(findUserByPhone, [input.phone, input.audience]))[0]
  const known = await find()
  const hash = await passwords.hash(input.password)
  if (known !== undefined) return repeat(services, input, hash, known)
  const draft = toDraft(services, input)
  try {
    return autoconfirm
      ? await signUpAtOnce(services, {
          draft: confirmPhone(draft),
          hash,
          provider: 'phone',
          client: input.client,
        })
      : toUserRecord(await createWaiting(services, input, draft, hash))
  } catch (error) {
    if (!isTaken(error, 'users_phone')) throw error
    // Somebody was faster, since we looked; or the number belongs to another audience.
    return repeat(services, input, hash, await find())
  }
}

function toDraft({ config }: Services, { phone, audience, data }: PhoneSignUp, id?: string) {
  const role = config.tokens.defaultGroup
  return draftPhoneUser(phone, { ...(id !== undefined && { id }), aud: audience, role, data })
}

async function createWaiting(
  services: Services,
  input: PhoneSignUp,
  draft: UserDraft,
  hash: string,
): Promise<UserRow> {
  const now = new Date(services.now())
  const { channel, client } = input
  const gap = toTextGap(services, input, 'sms')
  const { token, parts } = planCode(services, toConfirmation(input))
  const actor = { ...draft, is_sso_user: false }
  const user = await insertUser(services, {
    ...draft,
    ...unconfirmed,
    encrypted_password: hash,
    confirmation_sent_at: now,
    now,
    ip: client.ip,
    audit: toAuditEntry('user_confirmation_requested', actor, { channel }),
    ...parts,
    token: { ...token, claim: { hash, data: draft.raw_user_meta_data } },
    ...gap,
  })
  if (user === undefined) throw await toTextError(services, gap, now)
  services.wakeMessages()
  return user
}

/** @param known undefined: the number belongs to another audience. */
async function repeat(
  services: Services,
  input: PhoneSignUp,
  hash: string,
  known: UserRow | undefined,
): Promise<UserRecord> {
  if (services.config.sms.autoconfirm) {
    throw new ApiError('user_already_exists', 'User already registered', { status: 400 })
  }
  const { phone, audience, data, client } = input
  const repeated = {
    name: phone,
    draft: draftPhoneUser,
    audience,
    data,
    client,
  }
  if (known?.phone_confirmed_at === null) {
    // The password of the account stays until somebody shows the code: it then is this one.
    const claim = { hash, data: toDraft(services, input, known.id).raw_user_meta_data }
    await textUser(services, input, known, { action: 'user_confirmation_requested' }, claim)
    return answerRepeatedSignUp(services, { ...repeated, waiting: known })
  }
  // Where no message may go out, to this number or at all, a newcomer would be told so as well.
  await textNobody(services, input, 'sms')
  return answerRepeatedSignUp(services, {
    ...repeated,
    ...(known && { audit: toAuditEntry('user_repeated_signup', known) }),
  })
}
