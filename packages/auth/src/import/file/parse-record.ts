import { createHash } from 'node:crypto'
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
  /** For records without `created_at`. */
  readonly now: Date
}

/** A user and the user's identities, as rows of our tables. */
export interface FileUser {
  readonly user: Readonly<Record<string, unknown>>
  readonly identities: readonly Readonly<Record<string, unknown>>[]
}

export interface RecordChecks {
  readonly parseEmail: (text: string) => string
  readonly parsePhone: (text: string) => string
  readonly isPasswordHash: (hash: string) => boolean
}

class RecordError extends Error {}

/** Converts a record. Returns a message if it is invalid. */
export function parseRecord(
  { fields, flaw }: RawRecord,
  defaults: FileDefaults,
  checks: RecordChecks,
): FileUser | string {
  if (flaw !== undefined) return flaw
  try {
    return toUser(fields, defaults, checks)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function toUser(
  fields: RawRecord['fields'],
  defaults: FileDefaults,
  checks: RecordChecks,
): FileUser {
  const unknown = Object.keys(fields).find((name) => !recordFields.some((known) => known === name))
  if (unknown !== undefined) throw new RecordError(`the field ${unknown} is unknown`)
  const read = <Value>(name: Field, parse: (value: unknown) => Value): Value | null => {
    const value = fields[name]
    if (value === undefined || value === null || value === '') return null
    try {
      return parse(value)
    } catch (error) {
      throw new RecordError(`${name}: ${error instanceof Error ? error.message : error}`)
    }
  }
  const email = read('email', (value) => checks.parseEmail(toText(value)))
  const phone = read('phone', (value) => checks.parsePhone(toText(value)))
  if (email === null && phone === null) throw new RecordError('it has neither email nor phone')
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
      throw new RecordError('the format of the hash is not supported')
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
  // Without created_at, the hash must not depend on the time of the import.
  const isDated = read('created_at', toTime) !== null
  return {
    user: withHash(user, isDated),
    identities: identities.map((row) => withHash(row, isDated)),
  }
}

function withHash(row: Readonly<Record<string, unknown>>, isDated: boolean) {
  const { created_at: _created, updated_at: _updated, ...others } = row
  const hash = createHash('sha256')
    .update(JSON.stringify(isDated ? row : others))
    .digest()
  return { ...row, source_hash: hash.readBigInt64BE().toString() }
}

/** The same record gets the same ID when the file is imported again. */
function deriveId(text: string): string {
  const bytes = createHash('sha256').update(`portcullis auth import: ${text}`).digest()
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  return bytes.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

function toText(value: unknown): string {
  if (typeof value === 'string') return value
  throw new RecordError('must be a text')
}

function toUuid(value: unknown): string {
  const text = toText(value).toLowerCase()
  if (/^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/.test(text)) return text
  throw new RecordError('must be a UUID')
}

/** Texts in RFC 3339, or numbers of milliseconds. */
function toTime(value: unknown): string {
  const time = new Date(typeof value === 'number' ? value : toText(value))
  if (!Number.isNaN(time.getTime())) return time.toISOString()
  throw new RecordError('must be a time such as 2026-01-31T12:00:00Z')
}

/** The time of the confirmation, or only whether there was one. */
function toConfirmation(value: unknown, createdAt: string): string | null {
  if (value === true || value === 'true') return createdAt
  if (value === false || value === 'false') return null
  return toTime(value)
}

/** CSV files contain JSON as text. */
function toObject(value: unknown): object {
  const object: unknown = typeof value === 'string' ? JSON.parse(value) : value
  if (typeof object === 'object' && object !== null && !Array.isArray(object)) return object
  throw new RecordError('must be a JSON object')
}
