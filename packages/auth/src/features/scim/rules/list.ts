import {
  createMatcher,
  type Filter,
  parseAttributePath,
  parseFilter,
  readValues,
} from './filter.ts'
import type { ScimObject } from './patch.ts'
import { scimError } from './scim-error.ts'

type Query = Readonly<Record<string, string | undefined>>

export interface ListQuery {
  readonly filter: Filter | undefined
  /** The first result; counting starts at 1. */
  readonly startIndex: number
  readonly count: number
  readonly sortBy: readonly string[] | undefined
  readonly isDescending: boolean
}

export const mostResults = 200
/** Filters other than equality of a name are evaluated here, so the rows are limited. */
export const mostFiltered = 2_000

/** @throws {ApiError} */
export function parseListQuery(query: Query): ListQuery {
  const { filter, sortBy } = query
  return {
    filter: filter ? parseFilter(filter) : undefined,
    // RFC 7644, section 3.4.2.4: smaller values count as 1 and 0.
    startIndex: Math.max(1, parseInteger('startIndex', query['startIndex'], 1)),
    count: Math.min(mostResults, Math.max(0, parseInteger('count', query['count'], 100))),
    sortBy: sortBy ? parseAttributePath(sortBy) : undefined,
    isDescending: query['sortOrder']?.toLowerCase() === 'descending',
  }
}

function parseInteger(name: string, text: string | undefined, byDefault: number): number {
  if (text === undefined || text === '') return byDefault
  if (/^-?\d{1,9}$/.test(text)) return Number(text)
  throw scimError('invalidValue', `${name} must be an integer`)
}

/** The text that an attribute must equal, if that is the whole filter and the database can find it. */
export function findEquality(filter: Filter | undefined, attribute: string): string | undefined {
  if (filter?.kind !== 'compare' || filter.operator !== 'eq') return undefined
  const isAttribute = filter.path.join('.').toLowerCase() === attribute.toLowerCase()
  return isAttribute && typeof filter.value === 'string' ? filter.value : undefined
}

/** Selects, sorts and cuts resources that have been read as a whole. */
export function selectResources(resources: readonly ScimObject[], query: ListQuery) {
  const { filter, sortBy, startIndex, count, isDescending } = query
  const matches = createMatcher()
  const matching =
    filter === undefined ? resources : resources.filter((each) => matches(each, filter))
  const sorted = sortBy === undefined ? matching : sort(matching, sortBy, isDescending)
  const page = sorted.slice(startIndex - 1, startIndex - 1 + count)
  return { total: matching.length, page }
}

function sort(resources: readonly ScimObject[], path: readonly string[], isDescending: boolean) {
  const keyOf = (resource: ScimObject) => {
    const [value] = readValues(resource, path)
    return value === undefined ? '' : `${value}`.toLowerCase()
  }
  const direction = isDescending ? -1 : 1
  return resources
    .map((resource) => ({ resource, key: keyOf(resource) }))
    .toSorted((one, other) =>
      one.key === other.key ? 0 : one.key < other.key ? -direction : direction,
    )
    .map(({ resource }) => resource)
}

export function toListResponse(page: readonly ScimObject[], total: number, startIndex: number) {
  return {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
    totalResults: total,
    startIndex,
    itemsPerPage: page.length,
    Resources: page,
  }
}
