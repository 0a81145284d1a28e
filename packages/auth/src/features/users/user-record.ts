import { toUtcTime } from '../../db/connection/session-settings.ts'
import type { Queries } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import type { Json, Metadata } from '../../stored-json.ts'
import { type ClientGrant, hasScope, withholdMetadata } from '../../tokens/client-grants.ts'
import {
  type FactorRow,
  findUserById,
  type IdentityRow,
  type Time,
  type UserRow,
} from './statements/user-row.ts'

/** The user as returned by the API. */
export type UserRecord = Readonly<Record<string, Json>>

/** Fields without a value are omitted, except those that clients rely on. */
export function toUserRecord(user: UserRow): UserRecord {
  const { email_confirmed_at: byEmail, phone_confirmed_at: byPhone } = user
  return {
    id: user.id,
    aud: user.aud,
    role: user.role,
    email: user.email ?? '',
    ...present('email_confirmed_at', byEmail),
    ...present('invited_at', user.invited_at),
    phone: user.phone ?? '',
    ...present('phone_confirmed_at', byPhone),
    ...present('confirmation_sent_at', user.confirmation_sent_at),
    ...present('confirmed_at', earlier(byEmail, byPhone)),
    ...present('recovery_sent_at', user.recovery_sent_at),
    ...present('new_email', user.email_change),
    ...present('email_change_sent_at', user.email_change_sent_at),
    ...present('new_phone', user.phone_change),
    ...present('phone_change_sent_at', user.phone_change_sent_at),
    ...present('reauthentication_sent_at', user.reauthentication_sent_at),
    ...present('last_sign_in_at', user.last_sign_in_at),
    app_metadata: user.raw_app_meta_data,
    user_metadata: user.raw_user_meta_data,
    ...(user.factors.length > 0 && { factors: user.factors.map(toFactorRecord) }),
    identities: user.identities.map(toIdentity),
    created_at: user.created_at,
    updated_at: user.updated_at,
    ...present('banned_until', user.banned_until),
    ...present('deleted_at', user.deleted_at),
    is_anonymous: user.is_anonymous,
  }
}

/** The user as returned to an OAuth client: only what its scope includes. */
export function toRecordForClient(user: UserRow, grant: ClientGrant): UserRecord {
  const { id, aud, role, raw_app_meta_data: app_metadata, is_anonymous, created_at } = user
  const may = (scope: string) => hasScope(grant, scope)
  return {
    ...{ id, aud, role, app_metadata, is_anonymous, created_at },
    email: may('email') ? (user.email ?? '') : '',
    ...(may('email') && present('email_confirmed_at', user.email_confirmed_at)),
    phone: may('phone') ? (user.phone ?? '') : '',
    ...(may('phone') && present('phone_confirmed_at', user.phone_confirmed_at)),
    user_metadata: withholdMetadata(user.raw_user_meta_data, grant),
  }
}

/** The factor as returned by the API. */
export function toFactorRecord(factor: FactorRow): Metadata {
  return {
    id: factor.id,
    ...present('friendly_name', factor.friendly_name),
    factor_type: factor.factor_type,
    status: factor.status,
    phone: factor.phone ?? '',
    ...present('web_authn_aaguid', factor.web_authn_aaguid),
    created_at: toTime(factor.created_at),
    updated_at: toTime(factor.updated_at),
    last_challenged_at: toTime(factor.last_challenged_at),
  }
}

function toIdentity(identity: IdentityRow): Metadata {
  return {
    identity_id: identity.id,
    id: identity.provider_id,
    user_id: identity.user_id,
    identity_data: identity.identity_data,
    provider: identity.provider,
    ...present('last_sign_in_at', toTime(identity.last_sign_in_at)),
    created_at: toTime(identity.created_at),
    updated_at: toTime(identity.updated_at),
    ...present('email', identity.email),
  }
}

/** Inside JSON, PostgreSQL writes UTC as a numeric offset. */
function toTime<Value extends Time | null>(time: Value): Value
function toTime(time: Time | null): Time | null {
  return time === null ? null : toUtcTime(time)
}

function present(name: string, value: string | null | undefined): Metadata {
  return value === null || value === undefined || value === '' ? {} : { [name]: value }
}

/** Compares the times as numbers, because their fractions may differ in length. */
function earlier(one: Time | null, other: Time | null): Time | null {
  if (one === null || other === null) return one ?? other
  return Date.parse(one) <= Date.parse(other) ? one : other
}

/** @throws {ApiError} */
export async function getUser({ db }: { readonly db: Queries }, userId: string): Promise<UserRow> {
  const [user] = await db.run(findUserById, { id: userId })
  if (user === undefined) throw userNotFound()
  return user
}

export function userNotFound(): ApiError {
  return new ApiError('user_not_found', 'User not found')
}
