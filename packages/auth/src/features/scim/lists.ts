import type { Services } from '../../services.ts'
import { toGroupResource } from './rules/group-resource.ts'
import {
  findEquality,
  type ListQuery,
  mostFiltered,
  selectResources,
  toListResponse,
} from './rules/list.ts'
import type { ScimObject } from './rules/patch.ts'
import { scimError } from './rules/scim-error.ts'
import { toUserResource } from './rules/user-resource.ts'
import { listScimGroups } from './statements/groups.ts'
import { listScimUsers } from './statements/users.ts'
import type { ScimContext } from './users.ts'

interface Range {
  readonly limit: number
  readonly offset: number
}

interface Read {
  readonly resources: readonly ScimObject[]
  readonly total: number
}

/** @throws {ApiError} */
export function listUsers({ db }: Services, context: ScimContext, query: ListQuery) {
  const { providerId, baseUrl } = context
  const userName = findEquality(query.filter, 'userName') ?? null
  const externalId = findEquality(query.filter, 'externalId') ?? null
  const isExact = userName !== null || externalId !== null
  return list(query, isExact, async (range) => {
    const rows = await db.run(listScimUsers, { providerId, userName, externalId, ...range })
    const resources = rows.flatMap((row) =>
      row.user_id === null ? [] : [toUserResource(row, baseUrl)],
    )
    return { resources, total: rows[0]?.total ?? 0 }
  })
}

/** @throws {ApiError} */
export function listGroups({ db }: Services, context: ScimContext, query: ListQuery) {
  const { providerId, baseUrl } = context
  const displayName = findEquality(query.filter, 'displayName') ?? null
  return list(query, displayName !== null, async (range) => {
    const rows = await db.run(listScimGroups, { providerId, displayName, ...range })
    const resources = rows.flatMap((row) =>
      row.id === null ? [] : [toGroupResource(row, baseUrl)],
    )
    return { resources, total: rows[0]?.total ?? 0 }
  })
}

/** @param isExact whether the statement applies the whole filter. */
async function list(query: ListQuery, isExact: boolean, read: (range: Range) => Promise<Read>) {
  const { filter, sortBy, startIndex, count } = query
  if (sortBy === undefined && (filter === undefined || isExact)) {
    const { resources, total } = await read({ limit: count, offset: startIndex - 1 })
    return toListResponse(resources, total, startIndex)
  }
  const all = await read({ limit: mostFiltered, offset: 0 })
  if (all.total > mostFiltered) {
    throw scimError(
      'tooMany',
      `Only userName, externalId or displayName can be compared among more than ${mostFiltered} resources, and without sortBy`,
    )
  }
  const { page, total } = selectResources(all.resources, query)
  return toListResponse(page, total, startIndex)
}
