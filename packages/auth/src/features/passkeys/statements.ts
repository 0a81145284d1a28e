import type { Row } from '../../db/database.ts'
import { object, statement } from '../../db/statement.ts'
import type { NewAuditEntry } from '../../messages/statements/request-parts.ts'
import { logAction } from '../audit/statements.ts'
import type { Time, UserRow } from '../users/statements/user-row.ts'

export type Ceremony = 'registration' | 'authentication'

/** Maximum number of pending registrations per user. Further ones replace the oldest. */
const mostOpen = 10

/** The user is null when any user may answer. */
export const addWebAuthnChallenge = statement(
  'add_webauthn_challenge',
  ['id', 'ceremony', 'userId', 'challenge', 'expiresAt', 'now'],
  `with owner as materialized (
     -- Locks the user before their challenges, in the same order as deleting a user.
     select id from {ns}.users where id = $3::uuid for key share
   ), outdated as (
     delete from {ns}.webauthn_challenges where (select count(*) from owner) = 1 and id in (
       select id from {ns}.webauthn_challenges where user_id = $3
       order by created_at desc, id offset ${mostOpen - 1})
   )
   insert into {ns}.webauthn_challenges (id, ceremony, user_id, challenge, expires_at, created_at)
   select $1, $2, $3, $4, $5, $6 where $3 is null or exists (select from owner)`,
)

export interface TakenChallenge extends Row {
  readonly challenge: string
  readonly expires_at: Time
}

/** A part of a `with` that deletes a challenge, so that it can be answered only once. */
const takeChallenge = (ceremony: Ceremony, id: string, userId: string | null) =>
  `challenge as (
     delete from {ns}.webauthn_challenges
     where id = ${id} and ceremony = '${ceremony}'
       and user_id ${userId === null ? 'is null' : `= ${userId}`}
     returning challenge, expires_at
   )`

/** Returns no row when the challenge does not exist or belongs to another user. */
export const takeRegistrationChallenge = statement(
  'take_registration_challenge',
  ['id', 'userId'],
  `with ${takeChallenge('registration', '$1', '$2')} select challenge, expires_at from challenge`,
).returning<TakenChallenge>()

export interface PasskeyRow extends Row {
  readonly id: string
  readonly credential_id: Buffer
  readonly transports: readonly string[]
  readonly friendly_name: string
  readonly last_used_at: Time | null
  readonly created_at: Time
}

const columns = ['id', 'credential_id', 'transports', 'friendly_name', 'last_used_at', 'created_at']
const listColumns = (passkey: string) => columns.map((name) => `${passkey}.${name}`).join(', ')

/** The passkeys of a user, oldest first. */
export const listPasskeys = statement(
  'list_passkeys',
  ['userId'],
  `select ${listColumns('k')} from {ns}.webauthn_credentials k
   where k.user_id = $1 order by k.created_at, k.id`,
).returning<PasskeyRow>()

/** Locks the user, so that two concurrent requests cannot exceed the limit. */
export const lockPasskeyOwner = statement(
  'lock_passkey_owner',
  ['userId'],
  'select id from {ns}.users where id = $1 and deleted_at is null for update',
)

export interface NewPasskey {
  readonly id: string
  readonly user_id: string
  /** In hexadecimal, as is `public_key`. */
  readonly credential_id: string
  readonly public_key: string
  readonly sign_count: number
  readonly transports: readonly string[]
  readonly aaguid: string
  readonly is_syncable: boolean
  readonly is_backed_up: boolean
  readonly friendly_name: string
  /** Maximum number of passkeys per user. */
  readonly most: number
  readonly now: Date
  readonly ip: string
  readonly audit: NewAuditEntry
}

/**
 * Returns no row when the user has reached the limit. A credential that is already registered
 * violates `webauthn_credentials_credential_id`. Must run after `lockPasskeyOwner`.
 */
export const addPasskey = statement(
  'add_passkey',
  object<NewPasskey>(),
  `with p as materialized (
     select * from jsonb_to_record($1::jsonb) as p(id uuid, user_id uuid, credential_id text,
       public_key text, sign_count bigint, transports jsonb, aaguid uuid, is_syncable boolean,
       is_backed_up boolean, friendly_name text, most integer, now timestamptz, ip text,
       audit jsonb)
   ), added as (
     insert into {ns}.webauthn_credentials (id, user_id, credential_id, public_key, sign_count,
       transports, aaguid, is_syncable, is_backed_up, friendly_name, created_at, updated_at)
     select p.id, p.user_id, decode(p.credential_id, 'hex'), decode(p.public_key, 'hex'),
       p.sign_count, p.transports, p.aaguid, p.is_syncable, p.is_backed_up, p.friendly_name, p.now,
       p.now
     from p
     where (select count(*) from {ns}.webauthn_credentials k where k.user_id = p.user_id) < p.most
     returning *
   ), ${logAction('added')}
   select ${listColumns('k')} from added k`,
).returning<PasskeyRow>()

export interface PasskeyChange {
  readonly id: string
  readonly user_id: string
  readonly now: Date
  readonly ip: string
  readonly audit: NewAuditEntry
}

export interface PasskeyNaming extends PasskeyChange {
  readonly friendly_name: string
}

/** Returns no row when the user has no such passkey. */
export const renamePasskey = statement(
  'rename_passkey',
  object<PasskeyNaming>(),
  `with p as materialized (
     select * from jsonb_to_record($1::jsonb) as p(id uuid, user_id uuid, friendly_name text,
       now timestamptz, ip text, audit jsonb)
   ), renamed as (
     update {ns}.webauthn_credentials k set friendly_name = p.friendly_name, updated_at = p.now
     from p where k.id = p.id and k.user_id = p.user_id
     returning k.*
   ), ${logAction('renamed')}
   select ${listColumns('k')} from renamed k`,
).returning<PasskeyRow>()

/** Returns no row when the user has no such passkey. */
export const removePasskey = statement(
  'remove_passkey',
  object<PasskeyChange>(),
  `with p as materialized (
     select * from jsonb_to_record($1::jsonb) as p(id uuid, user_id uuid, now timestamptz, ip text,
       audit jsonb)
   ), removed as (
     delete from {ns}.webauthn_credentials k using p
     where k.id = p.id and k.user_id = p.user_id
     returning k.id
   ), ${logAction('removed')}
   select id from removed`,
)

/** A passkey with its owner. */
export interface OwnedPasskey
  extends Pick<
    UserRow,
    | 'id'
    | 'email'
    | 'phone'
    | 'is_sso_user'
    | 'email_confirmed_at'
    | 'phone_confirmed_at'
    | 'banned_until'
  > {
  readonly passkey_id: string
  readonly public_key: string
  readonly sign_count: number
  readonly is_syncable: boolean
}

export interface PasskeyAttempt extends TakenChallenge {
  /** Null when no such passkey exists. */
  readonly passkey: OwnedPasskey | null
}

/** Uses up the challenge and finds the passkey. Returns no row when the challenge does not exist. */
export const tryPasskey = statement(
  'try_passkey',
  ['challengeId', 'credentialId', 'userId'],
  `with ${takeChallenge('authentication', '$1', null)}
   select c.challenge, c.expires_at, (
     select json_build_object('passkey_id', k.id, 'public_key', encode(k.public_key, 'hex'),
       'sign_count', k.sign_count, 'is_syncable', k.is_syncable, 'id', u.id, 'email', u.email,
       'phone', u.phone, 'is_sso_user', u.is_sso_user,
       'email_confirmed_at', u.email_confirmed_at, 'phone_confirmed_at', u.phone_confirmed_at,
       'banned_until', u.banned_until)
     from {ns}.webauthn_credentials k join {ns}.users u on u.id = k.user_id
     where k.credential_id = $2::bytea and k.user_id = $3::uuid and u.deleted_at is null
   ) as passkey
   from challenge c`,
).returning<PasskeyAttempt>()

/**
 * Records a correct signature. Returns no row when the passkey no longer exists, or when its
 * counter has already reached this value, as with a cloned authenticator.
 */
export const usePasskey = statement(
  'use_passkey',
  ['id', 'signCount', 'isBackedUp', 'now'],
  `update {ns}.webauthn_credentials
   set sign_count = $2, is_backed_up = $3, last_used_at = $4, updated_at = $4
   where id = $1 and (sign_count < $2 or (sign_count = 0 and $2 = 0))
   returning id`,
)
