import { randomUUID } from 'node:crypto'
import type { Metadata } from './metadata.ts'
import type { NewIdentity, NewUser } from './statements/create-user.ts'

/** A user in the making, before anything is confirmed, sent or written. */
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
  readonly id?: string
}

/** With an identity of its own, whose data are the user's first metadata (reference 3.3). */
export function draftEmailUser(
  email: string,
  { id = randomUUID(), ...input }: NewUserInput,
): UserDraft {
  const identity = toEmailIdentity(id, email, input.data, false)
  return {
    id,
    aud: input.aud,
    role: input.role,
    email,
    phone: null,
    raw_app_meta_data: { provider: 'email', providers: ['email'] },
    raw_user_meta_data: identity.identity_data,
    is_anonymous: false,
    identities: [identity],
  }
}

/** The same by a number. */
export function draftPhoneUser(
  phone: string,
  { id = randomUUID(), ...input }: NewUserInput,
): UserDraft {
  const identity = toPhoneIdentity(id, phone, input.data, false)
  return {
    id,
    aud: input.aud,
    role: input.role,
    email: null,
    phone,
    raw_app_meta_data: { provider: 'phone', providers: ['phone'] },
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

export function toEmailIdentity(
  userId: string,
  email: string,
  data: Metadata,
  isVerified: boolean,
): NewIdentity {
  return {
    id: randomUUID(),
    provider: 'email',
    provider_id: userId,
    identity_data: {
      ...data,
      sub: userId,
      email,
      email_verified: isVerified,
      phone_verified: false,
    },
  }
}

export function toPhoneIdentity(
  userId: string,
  phone: string,
  data: Metadata,
  isVerified: boolean,
): NewIdentity {
  return {
    id: randomUUID(),
    provider: 'phone',
    provider_id: userId,
    identity_data: {
      ...data,
      sub: userId,
      phone,
      phone_verified: isVerified,
      email_verified: false,
    },
  }
}

/** What a draft lacks, as if nobody had confirmed or sent anything. */
export const unconfirmed = {
  encrypted_password: null,
  email_confirmed_at: null,
  phone_confirmed_at: null,
  confirmation_sent_at: null,
  invited_at: null,
  banned_until: null,
} as const

/** The same user with the address confirmed, here and in the identity. */
export function confirmEmail(draft: UserDraft): UserDraft {
  return withVerified(draft, { email_verified: true })
}

/** The same user with the number confirmed. */
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
