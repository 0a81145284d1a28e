import { parseEmail } from '../../../addresses.ts'
import { countStoredBytes, findUnstorable, type Metadata } from '../../../stored-json.ts'
import type { ScimUserRow } from '../statements/users.ts'
import { findKey } from './filter.ts'
import { isObject, type ScimObject } from './patch.ts'
import { toVersion } from './resource-version.ts'
import { scimError } from './scim-error.ts'

export const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User'

/** The attributes of a user that the identity provider decides about. */
export interface ScimUserFields {
  readonly user_name: string
  readonly external_id: string | null
  readonly active: boolean
  readonly attributes: Metadata
}

export function toUserResource(row: ScimUserRow, baseUrl: string): ScimObject {
  const { user_id: id, external_id: externalId, attributes } = row
  const extensions = Object.keys(attributes).filter((name) => name.startsWith('urn:'))
  return {
    schemas: [userSchema, ...extensions],
    id,
    ...(externalId !== null && { externalId }),
    userName: row.user_name,
    ...attributes,
    active: row.active,
    groups: row.groups.map((group) => ({ ...group, $ref: `${baseUrl}/Groups/${group.value}` })),
    meta: {
      resourceType: 'User',
      created: row.created_at,
      lastModified: row.updated_at,
      location: `${baseUrl}/Users/${id}`,
      version: toVersion(row.updated_at),
    },
  }
}

/** Attributes that the server decides about, those with columns, and passwords, which it ignores. */
const handled = ['schemas', 'id', 'externalid', 'username', 'active', 'groups', 'meta', 'password']
const mostAttributeBytes = 16_384

/**
 * Parses a resource that was sent, or the result of a patch.
 * @param isActive what the user is if the resource does not say, so that a provider that leaves out
 *   `active` does not activate a user.
 * @throws {ApiError}
 */
export function parseUserResource(resource: ScimObject, isActive: boolean): ScimUserFields {
  const read = (name: string) => resource[findKey(resource, name) ?? '']
  const userName = read('userName')
  if (typeof userName !== 'string' || userName.trim() === '' || userName.length > 255) {
    throw scimError('invalidValue', 'userName must be a string of 1 to 255 characters')
  }
  const entries = Object.entries(resource).filter(
    ([name, value]) => !handled.includes(name.toLowerCase()) && value !== null,
  )
  const attributes = Object.fromEntries(entries) as Metadata
  // First, because counting is recursive, and a path of a patch can nest objects.
  const flaw = findUnstorable({ userName, attributes })
  if (flaw !== undefined) throw scimError('invalidValue', `An attribute ${flaw}`)
  if (countStoredBytes(attributes) > mostAttributeBytes) {
    throw scimError('invalidValue', `The attributes exceed ${mostAttributeBytes} bytes`)
  }
  return {
    user_name: userName.trim(),
    external_id: parseExternalId(read('externalId')),
    active: parseActive(read('active') ?? isActive),
    attributes,
  }
}

/** @throws {ApiError} */
export function parseExternalId(value: unknown): string | null {
  if (value === undefined || value === null || value === '') return null
  if (typeof value === 'string' && value.length <= 255) return value
  throw scimError('invalidValue', 'externalId must be a string of at most 255 characters')
}

/** Entra ID sends the words True and False. */
function parseActive(value: unknown): boolean {
  if (typeof value === 'boolean') return value
  const word = typeof value === 'string' ? value.toLowerCase() : ''
  if (word === 'true' || word === 'false') return word === 'true'
  throw scimError('invalidValue', 'active must be true or false')
}

/** The primary address, the first one, or the user name; null if none is an email address. */
export function findUserEmail({ user_name: userName, attributes }: ScimUserFields): string | null {
  const list = attributes[findKey(attributes, 'emails') ?? '']
  const emails: readonly unknown[] = Array.isArray(list) ? list : []
  const ranked = [...emails.filter(isPrimary), ...emails]
  for (const text of [...ranked.map(readEmail), userName]) {
    try {
      return parseEmail(text)
    } catch {
      // The next one may be an address.
    }
  }
  return null
}

function isPrimary(item: unknown): boolean {
  return isObject(item) && item['primary'] === true
}

function readEmail(item: unknown): string {
  const value = isObject(item) ? item['value'] : item
  return typeof value === 'string' ? value : ''
}

/** What applications show. */
export function toUserMetadata(fields: ScimUserFields, isEmailVerified: boolean): Metadata {
  const { attributes } = fields
  const name = attributes['name']
  const formatted = isObject(name)
    ? (name['formatted'] ?? [name['givenName'], name['familyName']].filter(Boolean).join(' '))
    : undefined
  const fullName = attributes['displayName'] ?? formatted
  const email = findUserEmail(fields)
  return {
    ...(typeof fullName === 'string' && fullName !== '' && { full_name: fullName }),
    ...(email !== null && { email, email_verified: isEmailVerified }),
  }
}
