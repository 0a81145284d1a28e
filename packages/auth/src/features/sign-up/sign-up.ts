import { isTaken } from '../../db/database-errors.ts'
import { ApiError } from '../../errors.ts'
import {
  type CooldownParts,
  type MessageChannel,
  toCapParts,
  toRefusalError,
} from '../../messages/requests/message-cooldowns.ts'
import { planCode } from '../../messages/requests/phone-codes.ts'
import { requireGateway } from '../../messages/requests/phone-gateway.ts'
import {
  type ClientTextRequest,
  simulateText,
  textUser,
  toConfirmation,
  toTextCooldown,
} from '../../messages/requests/phone-messages.ts'
import {
  type ClientMailRequest,
  mailCooldowns,
  mailUser,
  simulateMail,
  toMailCooldown,
  toMailRequest,
  userMails,
} from '../../messages/requests/user-mail.ts'
import type { AccountClaim, NewToken } from '../../messages/statements/request-parts.ts'
import type { NewHash } from '../../passwords/passwords.ts'
import type { Services } from '../../services.ts'
import type { Metadata } from '../../stored-json.ts'
import { toAuditEntry } from '../audit/audit.ts'
import type { Client, TokenResponse } from '../sessions/sessions.ts'
import {
  confirmEmail,
  confirmPhone,
  draftAnonymousUser,
  draftEmailUser,
  draftPhoneUser,
  insertUser,
  type NewUserInput,
  type UserDraft,
  unconfirmed,
} from '../user-changes/new-users.ts'
import type { NewUser } from '../user-changes/statements/create-user.ts'
import { findUserByEmail, findUserByPhone, type UserRow } from '../users/statements/user-row.ts'
import { toUserRecord, type UserRecord } from '../users/user-record.ts'
import { answerRepeatedSignUp } from './repeated-sign-up.ts'

interface NamedSignUp {
  readonly audience: string
  readonly client: Client
  readonly password: string
  readonly data: Metadata
  /** Whether the response is for a client of Supabase Auth. */
  readonly isSdk: boolean
}

export interface EmailSignUp extends ClientMailRequest, NamedSignUp {}

export interface PhoneSignUp extends ClientTextRequest, NamedSignUp {}

/** Signs up a user by email. @throws {ApiError} */
export function signUpByEmail(services: Services, input: EmailSignUp) {
  return signUp(services, byEmail, input)
}

/** Signs up a user by phone. @throws {ApiError} */
export async function signUpByPhone(services: Services, input: PhoneSignUp) {
  if (!byPhone.isAutoconfirmed(services)) requireGateway(services, input.phone, 'confirmation')
  return signUp(services, byPhone, input)
}

export interface AnonymousSignUp {
  readonly audience: string
  readonly client: Client
  readonly data: Metadata
}

/** @throws {ApiError} */
export function signUpAnonymously(
  services: Services,
  { audience, client, data }: AnonymousSignUp,
): Promise<TokenResponse> {
  const { defaultGroup: role } = services.config.tokens
  const draft = draftAnonymousUser({ aud: audience, role, data })
  return signUpAtOnce(services, { draft, provider: 'anonymous', client })
}

/**
 * If the account already exists, the response looks the same and takes as long as for a new one.
 * With autoconfirm this is not possible, so an error says that the name is taken.
 */
async function signUp<Input extends NamedSignUp>(
  services: Services,
  by: NameKind<Input>,
  input: Input,
): Promise<UserRecord | TokenResponse> {
  const known = await by.find(services, input)
  const hash = await services.passwords.hash(input.password)
  if (known !== undefined) return repeat(services, by, input, { hash, known })
  const draft = toDraft(services, by, input)
  try {
    if (!by.isAutoconfirmed(services)) {
      return toUserRecord(await createUnconfirmed(services, by, input, { draft, hash }))
    }
    const { provider } = by
    const { client } = input
    return await signUpAtOnce(services, { draft: by.confirm(draft), hash, provider, client })
  } catch (error) {
    if (!isTaken(error, `users_${by.provider}`)) throw error
    // The name was registered in the meantime, or it belongs to another audience.
    return repeat(services, by, input, { hash, known: await by.find(services, input) })
  }
}

function toDraft<Input extends NamedSignUp>(
  { config }: Services,
  by: NameKind<Input>,
  input: Input,
  id?: string,
): UserDraft {
  const { audience, data } = input
  const role = config.tokens.defaultGroup
  return by.draft(by.toName(input), { id, aud: audience, role, data })
}

/** Creates the user and sends a message to confirm the name. */
async function createUnconfirmed<Input extends NamedSignUp>(
  services: Services,
  by: NameKind<Input>,
  input: Input,
  { draft, hash }: { readonly draft: UserDraft; readonly hash: NewHash },
): Promise<UserRow> {
  const now = new Date(services.now())
  const stored = hash.toStored(draft.id)
  const { token, parts, cooldown, traits } = by.planMessage(services, input)
  const actor = { ...draft, is_sso_user: false }
  const user = await insertUser(services, {
    ...draft,
    ...unconfirmed,
    encrypted_password: stored,
    confirmation_sent_at: now,
    now,
    ip: input.client.ip,
    audit: toAuditEntry('user_confirmation_requested', actor, traits),
    ...parts,
    token: { ...token, claim: { hash: stored, data: draft.raw_user_meta_data } },
    ...cooldown,
  })
  if (user === undefined) throw await toRefusalError(services, by.channel, cooldown, now)
  services.wakeMessages()
  return user
}

interface AtOnce {
  readonly draft: UserDraft
  readonly provider: 'email' | 'phone' | 'anonymous'
  /** Undefined for an anonymous sign-in. */
  readonly hash?: NewHash
  readonly client: Client
}

/** Creates the user and signs them in, because no confirmation is required. */
async function signUpAtOnce(
  services: Services,
  { draft, provider, hash, client }: AtOnce,
): Promise<TokenResponse> {
  const now = new Date(services.now())
  const actor = { ...draft, is_sso_user: false }
  await insertUser(services, {
    ...draft,
    ...unconfirmed,
    ...(hash !== undefined && { encrypted_password: hash.toStored(draft.id) }),
    ...(provider !== 'anonymous' && { [`${provider}_confirmed_at`]: now }),
    now,
    ip: client.ip,
    audit: toAuditEntry('user_signedup', actor, { provider }),
    token: null,
    flow: null,
    messages: [],
    cap_most: null,
    cap_refill_ms: null,
  })
  const method = hash === undefined ? 'anonymous' : 'password'
  return services.sessions.open({ user: actor, method, client })
}

interface Repetition {
  readonly hash: NewHash
  /** Undefined when the name belongs to another audience. */
  readonly known: UserRow | undefined
}

async function repeat<Input extends NamedSignUp>(
  services: Services,
  by: NameKind<Input>,
  input: Input,
  { hash, known }: Repetition,
): Promise<UserRecord> {
  const isWaiting = known?.[`${by.provider}_confirmed_at`] === null
  if (by.reportsTaken(services, isWaiting)) {
    const status = input.isSdk ? 422 : 400
    throw new ApiError('user_already_exists', 'User already registered', { status })
  }
  const { audience, data, client } = input
  const repeated = { name: by.toName(input), draft: by.draft, audience, data, client }
  if (known !== undefined && isWaiting) {
    // The account keeps its password until the token is used; the new password then replaces it.
    const data = toDraft(services, by, input, known.id).raw_user_meta_data
    await by.messageUser(services, input, known, { hash: hash.toStored(known.id), data })
    return answerRepeatedSignUp(services, { ...repeated, waiting: known })
  }
  // The limits for messages apply as for a new user, so that an error reveals nothing.
  await by.simulateMessage(services, input)
  return answerRepeatedSignUp(services, {
    ...repeated,
    ...(known && { audit: toAuditEntry('user_repeated_signup', known) }),
  })
}

/** The differences between sign-ups by email and by phone. */
interface NameKind<Input> {
  readonly provider: 'email' | 'phone'
  readonly channel: MessageChannel
  toName(input: Input): string
  readonly draft: (name: string, input: NewUserInput) => UserDraft
  readonly confirm: (draft: UserDraft) => UserDraft
  isAutoconfirmed(services: Services): boolean
  /** Whether the response says that the name is taken. */
  reportsTaken(services: Services, isWaiting: boolean): boolean
  find(services: Services, input: Input): Promise<UserRow | undefined>
  planMessage(services: Services, input: Input): FirstMessage
  messageUser(services: Services, input: Input, user: UserRow, claim: AccountClaim): Promise<void>
  simulateMessage(services: Services, input: Input): Promise<void>
}

interface FirstMessage {
  readonly token: NewToken
  readonly parts: Pick<NewUser, 'flow' | 'messages' | 'channel' | 'cap_most' | 'cap_refill_ms'>
  readonly cooldown: CooldownParts
  /** Traits for the audit log. */
  readonly traits?: Metadata
}

const byEmail: NameKind<EmailSignUp> = {
  provider: 'email',
  channel: 'email',
  toName: ({ email }) => email,
  draft: draftEmailUser,
  confirm: confirmEmail,
  isAutoconfirmed: ({ config }) => config.mail.autoconfirm,
  reportsTaken: ({ config }, isWaiting) => config.mail.autoconfirm && !isWaiting,
  find: async ({ db }, input) => (await db.run(findUserByEmail, input))[0],
  planMessage(services, input) {
    const request = toMailRequest(input, userMails.confirmation)
    const { token, flow, message } = services.mail.plan(request)
    return {
      token,
      parts: { flow, messages: [message], ...toCapParts(services.config.limits.emailSent) },
      cooldown: toMailCooldown(services, input, mailCooldowns.confirmation),
    }
  },
  messageUser: (services, input, user, claim) =>
    mailUser(services, input, user, userMails.confirmation, claim),
  simulateMessage: (services, input) => simulateMail(services, input, mailCooldowns.confirmation),
}

const byPhone: NameKind<PhoneSignUp> = {
  provider: 'phone',
  channel: 'sms',
  toName: ({ phone }) => phone,
  draft: draftPhoneUser,
  confirm: confirmPhone,
  isAutoconfirmed: ({ config }) => config.sms.autoconfirm,
  reportsTaken: ({ config }) => config.sms.autoconfirm,
  find: async ({ db }, input) => (await db.run(findUserByPhone, input))[0],
  planMessage(services, input) {
    const { token, parts } = planCode(services, toConfirmation(input))
    const { channel } = input
    return { token, parts, cooldown: toTextCooldown(services, input, 'sms'), traits: { channel } }
  },
  messageUser: (services, input, user, claim) =>
    textUser(services, input, user, { action: 'user_confirmation_requested' }, claim),
  simulateMessage: (services, input) => simulateText(services, input, 'sms'),
}
