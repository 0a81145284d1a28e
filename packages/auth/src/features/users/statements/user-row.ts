import type { Row } from '../../../db/database.ts'
import { statement } from '../../../db/statement.ts'
import type { Json, Metadata } from '../../../stored-json.ts'

/** An RFC 3339 timestamp in UTC. */
export type Time = string

/** A user with identities and factors, as all statements return it. */
export interface UserRow extends Row {
  readonly id: string
  readonly aud: string
  readonly role: string
  readonly email: string | null
  readonly encrypted_password: string | null
  readonly email_confirmed_at: Time | null
  readonly invited_at: Time | null
  readonly confirmation_sent_at: Time | null
  readonly recovery_sent_at: Time | null
  readonly email_change: string | null
  readonly email_change_sent_at: Time | null
  readonly email_change_confirm_status: number
  readonly phone: string | null
  readonly phone_confirmed_at: Time | null
  readonly phone_change: string | null
  readonly phone_change_sent_at: Time | null
  readonly reauthentication_sent_at: Time | null
  readonly last_sign_in_at: Time | null
  readonly raw_app_meta_data: Metadata
  readonly raw_user_meta_data: Metadata
  readonly is_sso_user: boolean
  /** Data set by an administrator for a user who has not confirmed anything yet. */
  readonly admin_data: Metadata | null
  readonly is_anonymous: boolean
  readonly banned_until: Time | null
  readonly deleted_at: Time | null
  readonly created_at: Time
  readonly updated_at: Time
  readonly identities: readonly IdentityRow[]
  readonly factors: readonly FactorRow[]
}

/** A second factor without its secrets. */
export interface FactorRow {
  readonly [name: string]: Json
  readonly id: string
  readonly factor_type: string
  readonly friendly_name: string
  readonly status: 'unverified' | 'verified'
  readonly phone: string | null
  readonly web_authn_aaguid: string | null
  readonly last_challenged_at: Time | null
  readonly created_at: Time
  readonly updated_at: Time
}

export interface IdentityRow {
  readonly [name: string]: Json
  readonly id: string
  readonly user_id: string
  readonly provider: string
  readonly provider_id: string
  readonly identity_data: Metadata
  readonly email: string | null
  readonly last_sign_in_at: Time | null
  readonly created_at: Time
  readonly updated_at: Time
}

const columns = [
  'id',
  'aud',
  'role',
  'email',
  'encrypted_password',
  'email_confirmed_at',
  'invited_at',
  'confirmation_sent_at',
  'recovery_sent_at',
  'email_change',
  'email_change_sent_at',
  'email_change_confirm_status',
  'phone',
  'phone_confirmed_at',
  'phone_change',
  'phone_change_sent_at',
  'reauthentication_sent_at',
  'last_sign_in_at',
  'raw_app_meta_data',
  'raw_user_meta_data',
  'is_sso_user',
  'admin_data',
  'is_anonymous',
  'banned_until',
  'deleted_at',
  'created_at',
  'updated_at',
]

/** The columns of the user with the given alias, with identities and factors. */
export function selectUser(user: string): string {
  return `${listColumns(user)}, ${selectIdentities(user)}, ${selectFactors(user)}`
}

/** For a user that the same statement has written, because its identities are not visible yet. */
export function selectUserWith(user: string, identities: string): string {
  return `${listColumns(user)}, ${toIdentityArray(`from ${identities} i`)}, ${selectFactors(user)}`
}

/** For a user whose factors the same statement has changed. */
export function selectUserWithFactors(user: string, factors: string): string {
  return `${listColumns(user)}, ${selectIdentities(user)}, ${toFactorArray(`from ${factors} f`)}`
}

function listColumns(user: string): string {
  return columns.map((column) => `${user}.${column}`).join(', ')
}

function selectIdentities(user: string): string {
  return toIdentityArray(`from {ns}.identities i where i.user_id = ${user}.id`)
}

function toIdentityArray(from: string): string {
  // The same order as the providers in app_metadata: an account may start with two identities.
  const list = 'json_agg(to_json(i) order by i.created_at, i.provider, i.id)'
  return `coalesce((select ${list} ${from}), '[]') as identities`
}

function selectFactors(user: string): string {
  return toFactorArray(`from {ns}.mfa_factors f where f.user_id = ${user}.id`)
}

const factorColumns = [
  'id',
  'factor_type',
  'friendly_name',
  'status',
  'phone',
  'web_authn_aaguid',
  'last_challenged_at',
  'created_at',
  'updated_at',
]

function toFactorArray(from: string): string {
  const fields = factorColumns.map((column) => `'${column}', f.${column}`).join(', ')
  const list = `json_agg(json_build_object(${fields}) order by f.created_at, f.id)`
  return `coalesce((select ${list} ${from}), '[]') as factors`
}

export const findUserById = statement(
  'find_user_by_id',
  ['id'],
  `select ${selectUser('u')} from {ns}.users u where u.id = $1`,
).returning<UserRow>()

export const findUserByEmail = statement(
  'find_user_by_email',
  ['email', 'audience'],
  `select ${selectUser('u')} from {ns}.users u
    where u.email = $1 and u.aud = $2 and not u.is_sso_user and u.deleted_at is null`,
).returning<UserRow>()

export const findUserByPhone = statement(
  'find_user_by_phone',
  ['phone', 'audience'],
  `select ${selectUser('u')} from {ns}.users u
    where u.phone = $1 and u.aud = $2 and u.deleted_at is null`,
).returning<UserRow>()
