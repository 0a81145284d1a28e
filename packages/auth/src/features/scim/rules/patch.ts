import {
  type AttributePath,
  createMatcher,
  type Filter,
  findKey,
  type Matcher,
  parseAttributePath,
  parseFilter,
} from './filter.ts'
import { scimError } from './scim-error.ts'

/** A resource or a complex value. */
export type ScimObject = Record<string, unknown>

const mostOperations = 200
/** What the server decides about. */
const readOnly = ['id', 'meta', 'groups']

/**
 * Applies the operations of RFC 7644, section 3.5.2, to a copy of the resource. @throws {ApiError}
 */
export function applyPatch(resource: ScimObject, body: ScimObject): ScimObject {
  const operations = body[findKey(body, 'Operations') ?? '']
  if (!Array.isArray(operations) || operations.length > mostOperations) {
    throw scimError('invalidSyntax', `Operations must be a list of at most ${mostOperations} items`)
  }
  const changed = structuredClone(resource)
  const matches = createMatcher()
  for (const operation of operations) applyOperation(changed, operation, matches)
  return changed
}

type Kind = 'add' | 'replace' | 'remove'

function applyOperation(resource: ScimObject, operation: unknown, matches: Matcher): void {
  if (!isObject(operation)) throw scimError('invalidSyntax', 'An operation must be an object')
  const kind = `${operation['op']}`.toLowerCase()
  if (kind !== 'add' && kind !== 'replace' && kind !== 'remove') {
    throw scimError('invalidSyntax', 'op must be add, replace or remove')
  }
  const { path, value } = operation
  if (path === undefined || path === '') {
    if (kind === 'remove') throw scimError('noTarget', 'remove needs a path')
    if (!isObject(value)) throw scimError('invalidValue', 'Without a path, value must be an object')
    // Some providers send names with dots instead of nested objects.
    for (const [name, each] of Object.entries(value)) {
      applyAt(resource, name, { kind, value: each, matches })
    }
    return
  }
  if (typeof path !== 'string') throw scimError('invalidPath', 'path must be a string')
  const [root = ''] = parseTarget(path).path
  if (readOnly.includes(root.toLowerCase())) throw scimError('mutability', `${root} is read-only`)
  applyAt(resource, path, { kind, value, matches })
}

interface Change {
  readonly kind: Kind
  readonly value: unknown
  /** Selects values of a list. */
  readonly matches: Matcher
}

interface Target {
  readonly path: AttributePath
  /** Selects values of a list. */
  readonly filter: Filter | undefined
  /** An attribute of the selected values. */
  readonly sub: string | undefined
}

function parseTarget(text: string): Target {
  const [, name = text, condition, sub] = /^([^[]+)\[(.+)\](?:\.([\w$]+))?$/s.exec(text) ?? []
  return {
    path: parseAttributePath(name),
    filter: condition === undefined ? undefined : parseFilter(condition),
    sub,
  }
}

function applyAt(resource: ScimObject, text: string, change: Change): void {
  const { kind, value } = change
  const { path, filter, sub } = parseTarget(text)
  const name = path.at(-1) ?? ''
  let parent = resource
  for (const step of path.slice(0, -1)) {
    const key = toKey(parent, step)
    const next = parent[key]
    if (isObject(next)) parent = next
    else if (kind === 'remove') return
    else {
      const created: ScimObject = {}
      parent[key] = created
      parent = created
    }
  }
  const key = toKey(parent, name)
  if (filter !== undefined) return applyToSelected(parent, key, { filter, sub, ...change })
  if (kind === 'remove') return removeAt(parent, key, value)
  const before = parent[key]
  if (kind === 'add' && Array.isArray(before)) parent[key] = addValues(before, value)
  else if (isObject(before) && isObject(value)) mergeInto(before, value)
  else parent[key] = value
}

/** The names of a prototype would change every object. */
function toKey(parent: ScimObject, name: string): string {
  if (name === '__proto__' || name === 'constructor' || name === 'prototype') {
    throw scimError('invalidPath', `${name} is not the name of an attribute`)
  }
  return findKey(parent, name) ?? name
}

function mergeInto(target: ScimObject, value: ScimObject): void {
  for (const [name, each] of Object.entries(value)) target[toKey(target, name)] = each
}

/** Without `value`, the attribute is removed; with it, these values of a list. */
function removeAt(parent: ScimObject, key: string, value: unknown): void {
  const before = parent[key]
  if (!Array.isArray(before) || value === undefined) {
    delete parent[key]
    return
  }
  const unwanted = new Set((Array.isArray(value) ? value : [value]).map(toComparable))
  parent[key] = before.filter((each) => !unwanted.has(toComparable(each)))
}

function addValues(before: readonly unknown[], value: unknown): readonly unknown[] {
  const known = new Set(before.map(toComparable))
  const added = (Array.isArray(value) ? value : [value]).filter(
    (each) => !known.has(toComparable(each)),
  )
  return [...before, ...added]
}

/** Two values of a list are the same if their `value` is. */
function toComparable(item: unknown): string {
  const key = findKey(item, 'value')
  return JSON.stringify(key === undefined ? item : (item as ScimObject)[key])
}

interface Selection extends Change {
  readonly filter: Filter
  readonly sub: string | undefined
}

function applyToSelected(
  parent: ScimObject,
  key: string,
  { filter, sub, kind, value, matches }: Selection,
): void {
  const before = parent[key] ?? []
  if (!Array.isArray(before)) throw scimError('invalidPath', `${key} is not a list`)
  const isSelected = (item: unknown) => matches(item, filter)
  if (kind === 'remove' && sub === undefined) {
    parent[key] = before.filter((item) => !isSelected(item))
    return
  }
  const selected = before.filter((item): item is ScimObject => isObject(item) && isSelected(item))
  for (const item of selected) {
    if (sub === undefined) mergeInto(item, requireObject(value))
    else if (kind === 'remove') delete item[toKey(item, sub)]
    else item[toKey(item, sub)] = value
  }
  if (selected.length > 0 || kind === 'remove') return
  // Providers add the first work address in this way: emails[type eq "work"].value.
  if (filter.kind !== 'compare' || filter.operator !== 'eq') {
    throw scimError('noTarget', `No value of ${key} matches the filter`)
  }
  const created: ScimObject = { [filter.path.join('.')]: filter.value }
  if (sub === undefined) mergeInto(created, requireObject(value))
  else created[toKey(created, sub)] = value
  parent[key] = [...before, created]
}

function requireObject(value: unknown): ScimObject {
  if (isObject(value)) return value
  throw scimError('invalidValue', 'value must be an object')
}

export function isObject(value: unknown): value is ScimObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
