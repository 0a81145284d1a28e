import { uuidPattern } from '../../sessions/bearer.ts'
import type { ScimGroupRow } from '../statements/groups.ts'
import { findKey } from './filter.ts'
import { isObject, type ScimObject } from './patch.ts'
import { toVersion } from './resource-version.ts'
import { scimError } from './scim-error.ts'
import { parseExternalId } from './user-resource.ts'

export const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group'

export interface GroupFields {
  readonly display_name: string
  readonly external_id: string | null
  /** IDs of users. */
  readonly members: readonly string[]
}

export function toGroupResource(row: ScimGroupRow, baseUrl: string): ScimObject {
  const { id, external_id: externalId } = row
  return {
    schemas: [groupSchema],
    id,
    ...(externalId !== null && { externalId }),
    displayName: row.display_name,
    members: row.members.map((each) => ({ ...each, $ref: `${baseUrl}/Users/${each.value}` })),
    meta: {
      resourceType: 'Group',
      created: row.created_at,
      lastModified: row.updated_at,
      location: `${baseUrl}/Groups/${id}`,
      version: toVersion(row.updated_at),
    },
  }
}

const mostMembers = 10_000

/** @throws {ApiError} */
export function parseGroupResource(resource: ScimObject): GroupFields {
  const read = (name: string) => resource[findKey(resource, name) ?? '']
  const displayName = read('displayName')
  if (typeof displayName !== 'string' || displayName.trim() === '' || displayName.length > 255) {
    throw scimError('invalidValue', 'displayName must be a string of 1 to 255 characters')
  }
  const given = read('members') ?? []
  if (!Array.isArray(given) || given.length > mostMembers) {
    throw scimError('invalidValue', `members must be a list of at most ${mostMembers} items`)
  }
  return {
    display_name: displayName.trim(),
    external_id: parseExternalId(read('externalId')),
    members: [...new Set(given.map(parseMember))],
  }
}

function parseMember(item: unknown): string {
  const value = isObject(item) ? item[findKey(item, 'value') ?? ''] : undefined
  if (typeof value === 'string' && uuidPattern.test(value)) return value.toLowerCase()
  throw scimError('invalidValue', 'Each member must have the id of a user as its value')
}
