import type { DocumentNode, GraphQLError, GraphQLSchema } from 'graphql'
import { createGenerations } from './generations.ts'

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
  for (const name of ['locations', 'extensions'] as const) {
    Object.defineProperty(copy, name, { value: structuredClone(error[name]) })
  }
  return copy
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
