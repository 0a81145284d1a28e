import type { DocumentNode, GraphQLError, GraphQLSchema } from 'graphql'

export interface Generations<V> {
  get(key: string): V | undefined
  set(key: string, value: V): void
}

/**
 * A map that forgets. Two generations instead of a list of uses: when the young one is full it
 * becomes the old one, and what is still asked for is carried over. Constant cost whatever is sent,
 * no bookkeeping on a hit, and a flood of new keys cannot push out what is in use.
 */
export function createGenerations<V>(maxEntries: number, maxLength: number): Generations<V> {
  let young = new Map<string, V>()
  let old = young
  let length = 0
  const generations: Generations<V> = {
    get(key) {
      let value = young.get(key)
      if (!value) {
        value = old.get(key)
        if (value) generations.set(key, value)
      }
      return value
    },
    /** Both bounds hold for each generation; the length is that of the keys. */
    set(key, value) {
      length += key.length
      if (young.size >= maxEntries || length > maxLength) {
        old = young
        young = new Map()
        length = key.length
      }
      young.set(key, value)
    },
  }
  return generations
}

// A syntax tree weighs some hundred times its source, so the sources are what is bounded.
const MAX_SOURCE_LENGTH = 2 ** 15
const MAX_TOTAL_LENGTH = 2 ** 19
const MAX_BAD_ENTRIES = 64

/** What is known of the documents in one schema. */
const createVerdicts = () => ({
  valid: new WeakSet<DocumentNode>(),
  bad: createGenerations<readonly GraphQLError[]>(MAX_BAD_ENTRIES, MAX_SOURCE_LENGTH),
})

/** Errors reach the user's `formatError`, which may change them: nobody gets the cached one. */
function copyError(error: GraphQLError): GraphQLError {
  const copy = Object.create(Object.getPrototypeOf(error), Object.getOwnPropertyDescriptors(error))
  return Object.defineProperty(copy, 'extensions', { value: { ...error.extensions } })
}

/**
 * Remembers which source texts parse, and which documents are valid in which schema. Schemas are
 * held weakly, so that one that was replaced is forgotten with its verdicts.
 */
export function createDocumentCache(
  maxEntries: number,
  parse: (source: string) => DocumentNode,
  validate: (schema: GraphQLSchema, document: DocumentNode) => readonly GraphQLError[],
) {
  const documents = createGenerations<DocumentNode>(maxEntries / 2, MAX_TOTAL_LENGTH)
  const schemas = new WeakMap<GraphQLSchema, ReturnType<typeof createVerdicts>>()
  return {
    parse: (source: string): DocumentNode => documents.get(source) ?? parse(source),
    validate(
      schema: GraphQLSchema,
      document: DocumentNode,
      source: string,
    ): readonly GraphQLError[] {
      const verdicts = schemas.get(schema) ?? createVerdicts()
      if (verdicts.valid.has(document)) return []
      const known = verdicts.bad.get(source)
      if (known) return known.map(copyError)

      const errors = validate(schema, document)
      if (source.length <= MAX_SOURCE_LENGTH) {
        schemas.set(schema, verdicts)
        if (errors.length > 0) verdicts.bad.set(source, errors.map(copyError))
        else {
          verdicts.valid.add(document)
          documents.set(source, document)
        }
      }
      return errors
    },
  }
}
