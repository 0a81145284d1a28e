import { object, statement } from '../../../db/statement.ts'
import { insertMessage } from '../../../messages/statements/outbox.ts'
import {
  partColumns,
  permitMessages,
  type RequestParts,
  writeParts,
} from '../../../messages/statements/request-parts.ts'
import type { Metadata } from '../../../stored-json.ts'
import { selectUserWith, type UserRow } from '../../users/statements/user-row.ts'

export interface NewUser extends RequestParts {
  readonly id: string
  readonly aud: string
  readonly role: string
  readonly email: string | null
  readonly phone: string | null
  readonly encrypted_password: string | null
  readonly email_confirmed_at: Date | null
  readonly phone_confirmed_at: Date | null
  readonly confirmation_sent_at: Date | null
  /** For a user who is created by requesting a sign-in link. */
  readonly recovery_sent_at?: Date | null
  readonly invited_at: Date | null
  readonly banned_until: Date | null
  readonly raw_app_meta_data: Metadata
  readonly raw_user_meta_data: Metadata
  readonly is_anonymous: boolean
  /** Default: false. The address of such a user need not be unique. */
  readonly is_sso_user?: boolean
  readonly identities: readonly NewIdentity[]
  /** Data set by an administrator, which is kept when the user first confirms the account. */
  readonly admin_data?: AdminData
}

export interface AdminData {
  readonly password?: boolean
  readonly user_metadata: Metadata
}

export interface NewIdentity {
  readonly id: string
  readonly provider: string
  readonly provider_id: string
  readonly identity_data: Metadata
}

/**
 * Creates a user with identities, tokens and messages. Returns no row and writes nothing when a
 * limit for messages is reached. An address or phone number that is taken violates `users_email` or
 * `users_phone`.
 */
export const createUser = statement(
  'create_user',
  object<NewUser>(),
  toCreation(),
).returning<UserRow>()

/** Like `createUser`, and also queues a call of the hook for new users. */
export const createUserAndQueueHook = statement(
  'create_user_and_queue_hook',
  object<NewUser>(),
  toCreation(`, hook_queued as (
     ${insertMessage('hook', {
       kind: `'after_user_created'`,
       recipient: `''`,
       payload: `jsonb_build_object('UserID', u.id, 'IP', p.ip)`,
       // After a day, the call is dropped.
       expiresInSeconds: '86400',
       from: 'created u cross join p',
     })}
   )`),
).returning<UserRow>()

function toCreation(more = ''): string {
  return `with p as materialized (
     select * from jsonb_to_record($1::jsonb) as p(id uuid, aud text, role text, email text,
       phone text, encrypted_password text, email_confirmed_at timestamptz,
       phone_confirmed_at timestamptz, confirmation_sent_at timestamptz,
       recovery_sent_at timestamptz, invited_at timestamptz, banned_until timestamptz,
       raw_app_meta_data jsonb, raw_user_meta_data jsonb, is_anonymous boolean,
       is_sso_user boolean, identities jsonb, admin_data jsonb, ${partColumns})
   ), ${permitMessages()}, created as (
     insert into {ns}.users (id, aud, role, email, phone, encrypted_password, email_confirmed_at,
       phone_confirmed_at, confirmation_sent_at, recovery_sent_at, invited_at, banned_until,
       raw_app_meta_data, raw_user_meta_data, is_anonymous, is_sso_user, admin_data, created_at,
       updated_at)
     select p.id, p.aud, p.role, p.email, p.phone, p.encrypted_password, p.email_confirmed_at,
       p.phone_confirmed_at, p.confirmation_sent_at, p.recovery_sent_at, p.invited_at,
       p.banned_until, p.raw_app_meta_data, p.raw_user_meta_data, p.is_anonymous,
       coalesce(p.is_sso_user, false),
       case when p.email_confirmed_at is null and p.phone_confirmed_at is null
         then p.admin_data end, p.now, p.now
     from p cross join permit
     returning *
   ), identified as (
     insert into {ns}.identities (id, user_id, provider, provider_id, identity_data,
       last_sign_in_at, created_at, updated_at)
     select i.id, u.id, i.provider, i.provider_id, i.identity_data, p.now, p.now, p.now
     from created u cross join p cross join jsonb_to_recordset(p.identities) as i(id uuid,
       provider text, provider_id text, identity_data jsonb)
     returning *
   ), ${writeParts('created')}${more}
   select ${selectUserWith('u', 'identified')} from created u`
}
