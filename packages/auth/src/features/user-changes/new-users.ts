import { randomUUID } from 'node:crypto'
import { runWithCooldown } from '../../messages/requests/message-cooldowns.ts'
import type { Services } from '../../services.ts'
import type { Metadata } from '../../stored-json.ts'
import type { UserRow } from '../users/statements/user-row.ts'
import { toUserRecord } from '../users/user-record.ts'
import {
  createUser,
  createUserAndQueueHook,
  type NewIdentity,
  type NewUser,
} from './statements/create-user.ts'

/** The data of a new user, before anything is confirmed, sent or written. */
export type UserDraft = Pick<
  NewUser,
  | 'id'
  | 'aud'
  | 'role'
  | 'email'
  | 'phone'
  | 'raw_app_meta_data'
  | 'raw_user_meta_data'
  | 'is_anonymous'
  | 'identities'
>

export interface NewUserInput {
  readonly aud: string
  readonly role: string
  readonly data: Metadata
  /** Default: a new ID. */
  readonly id?: string | undefined
}

/** The user has one identity, whose data becomes the user's metadata. */
export function draftEmailUser(email: string, input: NewUserInput): UserDraft {
  return draftNamedUser('email', email, input)
}

export function draftPhoneUser(phone: string, input: NewUserInput): UserDraft {
  return draftNamedUser('phone', phone, input)
}

function draftNamedUser(
  provider: 'email' | 'phone',
  name: string,
  { id = randomUUID(), aud, role, data }: NewUserInput,
): UserDraft {
  const identity = toIdentity(provider, { userId: id, name, data, isVerified: false })
  return {
    id,
    aud,
    role,
    email: provider === 'email' ? name : null,
    phone: provider === 'phone' ? name : null,
    raw_app_meta_data: { provider, providers: [provider] },
    raw_user_meta_data: identity.identity_data,
    is_anonymous: false,
    identities: [identity],
  }
}

export function draftAnonymousUser({ id = randomUUID(), ...input }: NewUserInput): UserDraft {
  return {
    id,
    aud: input.aud,
    role: input.role,
    email: null,
    phone: null,
    raw_app_meta_data: {},
    raw_user_meta_data: input.data,
    is_anonymous: true,
    identities: [],
  }
}

interface OwnIdentity {
  readonly userId: string
  /** The email address or phone number. */
  readonly name: string
  readonly data: Metadata
  readonly isVerified: boolean
}

/** The identity for a user's own email address or phone number. */
export function toIdentity(
  provider: 'email' | 'phone',
  { userId, name, data, isVerified }: OwnIdentity,
): NewIdentity {
  const other = provider === 'email' ? 'phone' : 'email'
  return {
    id: randomUUID(),
    provider,
    provider_id: userId,
    identity_data: {
      ...data,
      sub: userId,
      [provider]: name,
      [`${provider}_verified`]: isVerified,
      [`${other}_verified`]: false,
    },
  }
}

/** The fields that a draft lacks, for a user without confirmations. */
export const unconfirmed = {
  encrypted_password: null,
  email_confirmed_at: null,
  phone_confirmed_at: null,
  confirmation_sent_at: null,
  invited_at: null,
  banned_until: null,
} as const

/** The fields of a row that only later changes of the user set. */
export const untouched = {
  email_change: null,
  email_change_sent_at: null,
  email_change_confirm_status: 0,
  phone_change: null,
  phone_change_sent_at: null,
  reauthentication_sent_at: null,
  last_sign_in_at: null,
  deleted_at: null,
  admin_data: null,
} as const

/** Marks the address as verified in the metadata and in the identity. */
export function confirmEmail(draft: UserDraft): UserDraft {
  return withVerified(draft, { email_verified: true })
}

/** Marks the phone number as verified in the metadata and in the identity. */
export function confirmPhone(draft: UserDraft): UserDraft {
  return withVerified(draft, { phone_verified: true })
}

function withVerified(draft: UserDraft, verified: Metadata): UserDraft {
  return {
    ...draft,
    raw_user_meta_data: { ...draft.raw_user_meta_data, ...verified },
    identities: draft.identities.map((identity) => ({
      ...identity,
      identity_data: { ...identity.identity_data, ...verified },
    })),
  }
}

/**
 * All users are created here, so that the hooks are called for each. Returns undefined and writes
 * nothing when a limit for messages is reached.
 * @throws {ApiError} also when a hook rejects the user.
 */
export async function insertUser(
  { db, hooks, wakeMessages }: Services,
  user: NewUser,
): Promise<UserRow | undefined> {
  await hooks.beforeUserCreated?.({ user: toUserRecord(toFutureRow(user)) }, { ip: user.ip })
  if (hooks.afterUserCreated === undefined) return runWithCooldown(db, createUser, user)
  // The hook is called through the outbox after the commit, so that it is retried if it fails.
  const created = await runWithCooldown(db, createUserAndQueueHook, user)
  if (created !== undefined) wakeMessages()
  return created
}

/** The row as it will be read from the table. */
function toFutureRow(user: NewUser): UserRow {
  const now = user.now.toISOString()
  const toTime = (time: Date | null | undefined) => time?.toISOString() ?? null
  return {
    id: user.id,
    aud: user.aud,
    role: user.role,
    email: user.email,
    phone: user.phone,
    encrypted_password: null,
    email_confirmed_at: toTime(user.email_confirmed_at),
    phone_confirmed_at: toTime(user.phone_confirmed_at),
    invited_at: toTime(user.invited_at),
    confirmation_sent_at: toTime(user.confirmation_sent_at),
    recovery_sent_at: toTime(user.recovery_sent_at),
    banned_until: toTime(user.banned_until),
    ...untouched,
    raw_app_meta_data: user.raw_app_meta_data,
    raw_user_meta_data: user.raw_user_meta_data,
    is_sso_user: user.is_sso_user ?? false,
    is_anonymous: user.is_anonymous,
    created_at: now,
    updated_at: now,
    identities: user.identities.map((identity) => ({
      ...identity,
      user_id: user.id,
      email: toEmail(identity.identity_data['email']),
      last_sign_in_at: now,
      created_at: now,
      updated_at: now,
    })),
    factors: [],
  }
}

function toEmail(value: unknown): string | null {
  return typeof value === 'string' ? value.toLowerCase() : null
}
