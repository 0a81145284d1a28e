import {
  type DocumentNode,
  type GraphQLError,
  type GraphQLSchema,
  getLocation,
  type Location,
  type Source,
} from 'graphql'
import { createGenerations } from './generations.ts'

/** The default limit of the cache, in estimated bytes. */
export const DEFAULT_CACHE_BYTES: number = 16 * 2 ** 20

/**
 * Documents seen once share a quarter of the cache, so that they cannot evict documents that are
 * used repeatedly.
 */
const SHARE_OF_NEW = 1 / 4
const SHARE_OF_INVALID = 1 / 16
const MAX_INVALID_ENTRIES = 64
const BYTES_PER_ERROR = 2048

interface Entry {
  readonly document: DocumentNode
  readonly bytes: number
}

interface InvalidEntry {
  /**
   * A map with one key, the schema. It is weak, so that the schema can be garbage-collected.
   */
  readonly errors: WeakMap<GraphQLSchema, readonly GraphQLError[]>
  readonly bytes: number
}

/** Errors reach the user's `formatError`, which may change them, so each request gets a copy. */
function copyError(error: GraphQLError): GraphQLError {
  const copy = Object.create(Object.getPrototypeOf(error), Object.getOwnPropertyDescriptors(error))
  for (const name of ['locations', 'extensions'] as const) {
    Object.defineProperty(copy, name, { value: structuredClone(error[name]) })
  }
  return copy
}

/** Some runtimes have no `process`, and some deny access to the environment. */
function isProduction(): boolean {
  try {
    return process.env['NODE_ENV'] === 'production'
  } catch {
    return false
  }
}

/**
 * Caches parsed source texts, and which documents are valid in which schema. Schemas are held
 * weakly, so that a replaced schema is collected together with its validation results.
 *
 * @param maxEntries - the maximum number of cached valid documents.
 * @param maxBytes - the maximum size of all cached data, in estimated bytes.
 */
export function createDocumentCache(
  maxEntries: number,
  maxBytes: number,
  parse: (source: string) => DocumentNode,
  validate: (schema: GraphQLSchema, document: DocumentNode) => readonly GraphQLError[],
) {
  const isFrozen = !isProduction()
  const weigh = (_source: string, { bytes }: { readonly bytes: number }) => bytes
  // Each cache has two generations, so each generation gets half of its share.
  const open = <V extends { readonly bytes: number }>(entries: number, share: number) =>
    createGenerations<V>(entries / 2, (maxBytes * share) / 2, weigh)
  const newEntries = Math.max(1, Math.floor(maxEntries * SHARE_OF_NEW))
  const seenOnce = open<Entry>(newEntries, SHARE_OF_NEW)
  const repeated = open<Entry>(maxEntries - newEntries, 1 - SHARE_OF_NEW - SHARE_OF_INVALID)
  const invalid = open<InvalidEntry>(MAX_INVALID_ENTRIES, SHARE_OF_INVALID)
  const validIn = new WeakMap<GraphQLSchema, WeakSet<DocumentNode>>()

  const find = (source: string): Entry | undefined => {
    let entry = repeated.get(source)
    if (!entry) {
      entry = seenOnce.get(source)
      if (entry) repeated.set(source, entry)
    }
    return entry
  }

  return {
    parse: (source: string): DocumentNode => find(source)?.document ?? parse(source),
    validate(
      schema: GraphQLSchema,
      document: DocumentNode,
      source: string,
    ): readonly GraphQLError[] {
      let valid = validIn.get(schema)
      if (valid?.has(document)) return []
      const known = invalid.get(source)?.errors.get(schema)
      if (known) return known.map(copyError)

      const errors = validate(schema, document)
      let entry = find(source)
      if (entry?.document !== document) {
        entry = { document, bytes: 2 * source.length + lighten(document, isFrozen) }
      }
      if (errors.length > 0) {
        invalid.set(source, {
          errors: new WeakMap([[schema, errors.map(copyError)]]),
          bytes: entry.bytes + errors.length * BYTES_PER_ERROR,
        })
        return errors
      }
      if (!valid) {
        valid = new WeakSet()
        validIn.set(schema, valid)
      }
      valid.add(document)
      seenOnce.set(source, entry)
      return errors
    },
  }
}

/**
 * A location without the parser's tokens, which take more memory than the rest of a document. The
 * tokens are recreated on access, since compiling executors read them.
 */
class LightLocation {
  readonly start: number
  readonly end: number
  readonly source: Source

  constructor({ start, end, source }: Location) {
    this.start = start
    this.end = end
    this.source = source
  }

  get startToken(): object {
    return { ...getLocation(this.source, this.start), start: this.start, end: this.end }
  }

  get endToken(): object {
    return { ...getLocation(this.source, this.end), start: this.start, end: this.end }
  }

  toJSON(): object {
    return { start: this.start, end: this.end }
  }
}

type Parts = { [key: string]: unknown }

/** Most lists of a document are empty, so they share one array. */
const NONE: readonly never[] = Object.freeze([])

/** Estimated bytes of the largest node with its location, and of the list that holds it. */
const BYTES_PER_NODE = 200

/**
 * Reduces the memory that a document takes, in place, and returns an estimate of the bytes that
 * remain. The estimate errs on the high side.
 *
 * @param isFrozen - freeze the document as well. Fields stay writable, because graphql-jit adds properties to them.
 */
function lighten(document: DocumentNode, isFrozen: boolean): number {
  let nodes = 0
  // A list of pending nodes instead of recursion, which deep documents would overflow.
  const pending: object[] = [document]
  for (let node = pending.pop() as Parts | undefined; node; node = pending.pop() as Parts) {
    nodes += 1
    for (const key in node) {
      const value = node[key]
      if (typeof value !== 'object' || value === null) continue
      if (value instanceof LightLocation || value === NONE) continue
      if (key === 'loc') node[key] = new LightLocation(value as Location)
      else if (!Array.isArray(value)) pending.push(value)
      else if (value.length === 0) node[key] = NONE
      else {
        for (const item of value) pending.push(item)
        if (isFrozen) Object.freeze(value)
      }
    }
    if (isFrozen && node['kind'] !== 'Field') Object.freeze(node)
  }
  return nodes * BYTES_PER_NODE
}
