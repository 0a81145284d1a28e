import { createHash } from 'node:crypto'
import { toReason } from '@portcullis/service-kit/text/reason'
import { parseTime } from '@portcullis/service-kit/text/time'
import { toJsonValue } from '../json-value.ts'
import type { RawRecord } from './read-jsonl.ts'

/** The fields of a record. docs/auth-migration.md describes them. */
export const recordFields = [
  'id',
  'email',
  'phone',
  'password_hash',
  'email_confirmed',
  'phone_confirmed',
  'user_metadata',
  'app_metadata',
  'role',
  'aud',
  'banned_until',
  'last_sign_in_at',
  'created_at',
] as const
type Field = (typeof recordFields)[number]

export interface FileDefaults {
  readonly aud: string
  readonly role: string
  /** The creation time of users without `created_at`. */
  readonly now: Date
}

/** A user and the user's identities, as rows of the tables `users` and `identities`. */
export interface FileUser {
  readonly user: Readonly<Record<string, unknown>>
  readonly identities: readonly Readonly<Record<string, unknown>>[]
}

export interface RecordChecks {
  readonly parseEmail: (text: string) => string
  readonly parsePhone: (text: string) => string
  readonly isPasswordHash: (hash: string) => boolean
}

/** Converts a record. Returns the reason if it is invalid. */
export function parseRecord(
  { fields, flaw }: RawRecord,
  defaults: FileDefaults,
  checks: RecordChecks,
): FileUser | string {
  if (flaw !== undefined) return flaw
  try {
    return toUser(fields, defaults, checks)
  } catch (error) {
    return toReason(error)
  }
}

function toUser(
  fields: RawRecord['fields'],
  defaults: FileDefaults,
  checks: RecordChecks,
): FileUser {
  const unknown = Object.keys(fields).find((name) => !recordFields.some((known) => known === name))
  if (unknown !== undefined) {
    throw new Error(`the field ${unknown} is unknown; docs/auth-migration.md lists the fields`)
  }
  const read = <Value>(name: Field, parse: (value: unknown) => Value): Value | null => {
    const value = fields[name]
    if (value === undefined || value === null || value === '') return null
    try {
      return parse(value)
    } catch (error) {
      throw new Error(`${name}: ${toReason(error)}`)
    }
  }
  const email = read('email', (value) => checks.parseEmail(toText(value)))
  const phone = read('phone', (value) => checks.parsePhone(toText(value)))
  if (email === null && phone === null) throw new Error('it has neither email nor phone')
  const id = read('id', toUuid) ?? deriveId(`user ${email ?? phone}`)
  const createdAt = read('created_at', toTime) ?? defaults.now.toISOString()
  const confirm = (name: 'email_confirmed' | 'phone_confirmed') =>
    read(name, (value) => toConfirmation(value, createdAt))
  const emailConfirmedAt = email === null ? null : confirm('email_confirmed')
  const phoneConfirmedAt = phone === null ? null : confirm('phone_confirmed')
  const providers = [...(email === null ? [] : ['email']), ...(phone === null ? [] : ['phone'])]
  const user = {
    id,
    aud: read('aud', toText) ?? defaults.aud,
    role: read('role', toText) ?? defaults.role,
    email,
    phone,
    encrypted_password: read('password_hash', (value) => {
      if (checks.isPasswordHash(toText(value))) return toText(value)
      throw new Error('must be a hash of bcrypt, argon2i, argon2id or Firebase scrypt')
    }),
    email_confirmed_at: emailConfirmedAt,
    phone_confirmed_at: phoneConfirmedAt,
    raw_user_meta_data: read('user_metadata', toObject) ?? {},
    raw_app_meta_data: { provider: providers[0], providers, ...read('app_metadata', toObject) },
    banned_until: read('banned_until', toTime),
    last_sign_in_at: read('last_sign_in_at', toTime),
    is_sso_user: false,
    is_anonymous: false,
    email_change_confirm_status: 0,
    created_at: createdAt,
    updated_at: createdAt,
  }
  const toIdentity = (provider: string, name: string, confirmedAt: string | null) => ({
    id: deriveId(`${provider} ${id}`),
    user_id: id,
    provider,
    provider_id: id,
    identity_data: { sub: id, [provider]: name, [`${provider}_verified`]: confirmedAt !== null },
    created_at: createdAt,
    updated_at: createdAt,
  })
  const identities = [
    ...(email === null ? [] : [toIdentity('email', email, emailConfirmedAt)]),
    ...(phone === null ? [] : [toIdentity('phone', phone, phoneConfirmedAt)]),
  ]
  // Without created_at, the time of the import is used. It must not be part of the hash, or the next
  // import would take the record for a changed one.
  const isDated = read('created_at', toTime) !== null
  return {
    user: withHash(user, isDated),
    identities: identities.map((row) => withHash(row, isDated)),
  }
}

/** Adds the hash by which a later import recognises that the record has changed. */
function withHash(row: Readonly<Record<string, unknown>>, isDated: boolean) {
  const { created_at: _created, updated_at: _updated, ...others } = row
  const hash = createHash('sha256')
    .update(JSON.stringify(isDated ? row : others))
    .digest()
  return { ...row, source_hash: hash.readBigInt64BE().toString() }
}

/** Derives an ID, so that a record gets the same one when the file is imported again. */
function deriveId(text: string): string {
  const bytes = createHash('sha256').update(`portcullis auth import: ${text}`).digest()
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  return bytes.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

function toText(value: unknown): string {
  if (typeof value === 'string') return value
  throw new Error('must be a string')
}

function toUuid(value: unknown): string {
  const text = toText(value).toLowerCase()
  if (/^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/.test(text)) return text
  throw new Error('must be a UUID')
}

/** Converts `2026-01-31 12:00:00+00` to `2026-01-31T12:00:00+00:00`; returns other texts as they are. */
function fromPostgresTime(text: string): string {
  return text.replace(
    /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?[+-]\d\d)(?::(\d\d))?$/,
    (_all, date, time, minutes = '00') => `${date}T${time}:${minutes}`,
  )
}

/** The end of the year 9999. Later years are written differently. */
const maxTimeMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** Accepts a time such as `2026-01-31T12:00:00Z`, as PostgreSQL writes it, or milliseconds since 1970. */
function toTime(value: unknown): string {
  const ms = typeof value === 'number' ? value : parseTime(fromPostgresTime(toText(value)))
  if (ms !== undefined && Math.abs(ms) <= maxTimeMs) return new Date(ms).toISOString()
  throw new Error('must be a time such as 2026-01-31T12:00:00Z')
}

/** Accepts the time of the confirmation, or only whether the address was confirmed. */
function toConfirmation(value: unknown, createdAt: string): string | null {
  if (value === true || value === 'true') return createdAt
  if (value === false || value === 'false') return null
  return toTime(value)
}

/** Also accepts a string with JSON, as in CSV files. */
function toObject(value: unknown): object {
  const object = typeof value === 'string' ? toJsonValue(value) : value
  if (typeof object === 'object' && object !== null && !Array.isArray(object)) return object
  throw new Error('must be a JSON object')
}
