import { randomUUID } from 'node:crypto'
import type { Queries } from '../../db/database.ts'
import { isTaken } from '../../db/database-errors.ts'
import { ApiError } from '../../errors.ts'
import type { Services } from '../../services.ts'
import { uuidPattern } from '../sessions/bearer.ts'
import { type GroupFields, parseGroupResource, toGroupResource } from './rules/group-resource.ts'
import { applyPatch, type ScimObject } from './rules/patch.ts'
import { checkVersion } from './rules/resource-version.ts'
import { scimError } from './rules/scim-error.ts'
import {
  findScimGroup,
  lockMembers,
  lockScimGroup,
  publishGroups,
  type ScimGroupRow,
  writeScimGroup,
} from './statements/groups.ts'
import type { ScimContext } from './users.ts'

/** What reads groups, also inside a transaction. */
interface Reader {
  readonly db: Queries
}

/** @throws {ApiError} */
export async function getScimGroup(
  { db }: Reader,
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
  const fields = parseGroupResource(resource)
  return await change(services, async (db) => {
    await write(services, db, context, { id, fields, isDeleted: false })
    return await getScimGroup({ db }, context, id)
  })
}

/** @throws {ApiError} */
export async function replaceScimGroup(
  services: Services,
  context: ScimContext,
  id: string,
  resource: ScimObject,
): Promise<ScimGroupRow> {
  const fields = parseGroupResource(resource)
  return await changeKnown(services, context, id, () => fields)
}

/** @throws {ApiError} */
export async function patchScimGroup(
  services: Services,
  context: ScimContext,
  id: string,
  body: ScimObject,
): Promise<ScimGroupRow> {
  return await changeKnown(services, context, id, (row) =>
    parseGroupResource(applyPatch(toGroupResource(row, context.baseUrl), body)),
  )
}

/** @throws {ApiError} */
export async function deleteScimGroup(
  services: Services,
  context: ScimContext,
  id: string,
): Promise<void> {
  await change(services, async (db) => {
    const row = await lock(db, context, id)
    const fields = { display_name: row.display_name, external_id: null, members: [] }
    await write(services, db, context, { id: row.id, fields, isDeleted: true })
  })
}

function changeKnown(
  services: Services,
  context: ScimContext,
  id: string,
  toFields: (row: ScimGroupRow) => GroupFields,
): Promise<ScimGroupRow> {
  return change(services, async (db) => {
    const row = await lock(db, context, id)
    await write(services, db, context, { id: row.id, fields: toFields(row), isDeleted: false })
    return await getScimGroup({ db }, context, row.id)
  })
}

/** Providers send several changes of a group at a time, and none of them may be lost. */
async function lock(db: Queries, context: ScimContext, id: string): Promise<ScimGroupRow> {
  const { providerId } = context
  if (uuidPattern.test(id)) await db.run(lockScimGroup, { providerId, id })
  const row = await getScimGroup({ db }, context, id)
  checkVersion(context.ifMatch, row)
  return row
}

/** The groups and the claims of their members change together. */
async function change<Result>(
  { db }: Services,
  use: (db: Queries) => Promise<Result>,
): Promise<Result> {
  try {
    return await db.transaction(use)
  } catch (error) {
    if (!isTaken(error, 'scim_groups_name')) throw error
    throw scimError('uniqueness', 'Another group has this displayName')
  }
}

interface GroupWrite {
  readonly id: string
  readonly fields: GroupFields
  readonly isDeleted: boolean
}

async function write(
  services: Services,
  db: Queries,
  { providerId }: ScimContext,
  { id, fields, isDeleted }: GroupWrite,
): Promise<void> {
  const now = new Date(services.now())
  await db.run(lockMembers, { providerId, id, members: fields.members })
  const affected = await db.run(writeScimGroup, {
    id,
    sso_provider_id: providerId,
    ...fields,
    is_deleted: isDeleted,
    now,
  })
  const userIds = affected.map(({ user_id: userId }) => userId)
  if (userIds.length > 0) await db.run(publishGroups, { userIds, now })
}
