import { type AttributePath, parseAttributePath } from './filter.ts'
import { isObject, type ScimObject } from './patch.ts'
import { scimError } from './scim-error.ts'

/** Which attributes a response has (RFC 7644, section 3.9). */
export interface Selection {
  readonly kind: 'all' | 'only' | 'without'
  readonly paths: readonly AttributePath[]
}

export const selectionQuery = {
  attributes: 'Attributes to return, separated by commas. Default: all',
  excludedAttributes: 'Attributes to leave out, separated by commas',
} as const

const mostPaths = 100

/** @throws {ApiError} */
export function parseSelection({
  attributes = '',
  excludedAttributes = '',
}: Readonly<Partial<Record<keyof typeof selectionQuery, string | undefined>>>): Selection {
  if (attributes !== '' && excludedAttributes !== '') {
    throw scimError('invalidValue', 'attributes and excludedAttributes exclude each other')
  }
  if (attributes !== '') return { kind: 'only', paths: parsePaths(attributes) }
  if (excludedAttributes !== '') return { kind: 'without', paths: parsePaths(excludedAttributes) }
  return { kind: 'all', paths: [] }
}

function parsePaths(text: string): readonly AttributePath[] {
  const names = text.split(',', mostPaths + 1)
  if (names.length > mostPaths) throw scimError('invalidValue', `More than ${mostPaths} attributes`)
  return names.map((name) => parseAttributePath(name.trim()))
}

/** RFC 7643, section 7: a client cannot leave these out. */
const always: readonly AttributePath[] = [['schemas'], ['id']]

export function selectAttributes(resource: ScimObject, { kind, paths }: Selection): ScimObject {
  if (kind === 'all') return resource
  if (kind === 'only') return pick(resource, [...always, ...paths])
  const isAlways = ([name = '']: AttributePath) => always.some(([other]) => isSame(name, other))
  return omit(
    resource,
    paths.filter((path) => !isAlways(path)),
  )
}

function isSame(one: string, other = ''): boolean {
  return one.toLowerCase() === other.toLowerCase()
}

/** What follows the name in each path that begins with it. */
function restsOf(name: string, paths: readonly AttributePath[]): readonly AttributePath[] {
  return paths.filter(([first]) => isSame(name, first)).map((path) => path.slice(1))
}

const isWhole = (path: AttributePath) => path.length === 0

function pick(value: ScimObject, paths: readonly AttributePath[]): ScimObject {
  const kept = Object.entries(value).flatMap(([name, each]) => {
    const rests = restsOf(name, paths)
    if (rests.some(isWhole)) return [[name, each] as const]
    const part = rests.length === 0 ? undefined : mapValues(each, (one) => pick(one, rests))
    return part === undefined ? [] : [[name, part] as const]
  })
  return Object.fromEntries(kept)
}

function omit(value: ScimObject, paths: readonly AttributePath[]): ScimObject {
  const kept = Object.entries(value).flatMap(([name, each]) => {
    const rests = restsOf(name, paths)
    if (rests.some(isWhole)) return []
    const part = rests.length === 0 ? each : (mapValues(each, (one) => omit(one, rests)) ?? each)
    return [[name, part] as const]
  })
  return Object.fromEntries(kept)
}

/** Applies to an object or to each object of a list; undefined for a simple value. */
function mapValues(value: unknown, apply: (one: ScimObject) => ScimObject): unknown {
  if (Array.isArray(value)) return value.filter(isObject).map(apply)
  return isObject(value) ? apply(value) : undefined
}
