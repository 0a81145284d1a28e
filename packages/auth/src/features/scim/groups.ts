import { randomUUID } from 'node:crypto'
import { isTaken } from '../../db/database-errors.ts'
import { ApiError } from '../../errors.ts'
import type { Services } from '../../services.ts'
import { uuidPattern } from '../sessions/bearer.ts'
import { type GroupFields, parseGroupResource, toGroupResource } from './rules/group-resource.ts'
import { applyPatch, type ScimObject } from './rules/patch.ts'
import { scimError } from './rules/scim-error.ts'
import {
  findScimGroup,
  publishGroups,
  type ScimGroupRow,
  writeScimGroup,
} from './statements/groups.ts'
import type { ScimContext } from './users.ts'

/** @throws {ApiError} */
export async function getScimGroup(
  { db }: Services,
  { providerId }: ScimContext,
  id: string,
): Promise<ScimGroupRow> {
  const [row] = uuidPattern.test(id) ? await db.run(findScimGroup, { providerId, id }) : []
  if (row !== undefined) return row
  throw new ApiError('scim_resource_not_found', `Group ${id.slice(0, 100)} not found`)
}

/** @throws {ApiError} */
export async function createScimGroup(
  services: Services,
  context: ScimContext,
  resource: ScimObject,
): Promise<ScimGroupRow> {
  const id = randomUUID()
  await write(services, context, id, parseGroupResource(resource))
  return await getScimGroup(services, context, id)
}

/** @throws {ApiError} */
export async function replaceScimGroup(
  services: Services,
  context: ScimContext,
  id: string,
  resource: ScimObject,
): Promise<ScimGroupRow> {
  const { id: known } = await getScimGroup(services, context, id)
  await write(services, context, known, parseGroupResource(resource))
  return await getScimGroup(services, context, known)
}

/** @throws {ApiError} */
export async function patchScimGroup(
  services: Services,
  context: ScimContext,
  id: string,
  body: ScimObject,
): Promise<ScimGroupRow> {
  const row = await getScimGroup(services, context, id)
  const changed = applyPatch(toGroupResource(row, context.baseUrl), body)
  return await replaceScimGroup(services, context, row.id, changed)
}

/** @throws {ApiError} */
export async function deleteScimGroup(
  services: Services,
  context: ScimContext,
  id: string,
): Promise<void> {
  const row = await getScimGroup(services, context, id)
  const fields = { display_name: row.display_name, external_id: null, members: [] }
  await write(services, context, row.id, fields, true)
}

async function write(
  services: Services,
  { providerId }: ScimContext,
  id: string,
  fields: GroupFields,
  isDeleted = false,
): Promise<void> {
  const now = new Date(services.now())
  try {
    const affected = await services.db.run(writeScimGroup, {
      id,
      sso_provider_id: providerId,
      ...fields,
      is_deleted: isDeleted,
      now,
    })
    const userIds = affected.map(({ user_id: userId }) => userId)
    if (userIds.length > 0) await services.db.run(publishGroups, { userIds, now })
  } catch (error) {
    if (!isTaken(error, 'scim_groups_name')) throw error
    const message = `Another group has the displayName ${fields.display_name}`
    throw scimError('uniqueness', message)
  }
}
