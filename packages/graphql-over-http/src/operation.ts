import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  parse as graphqlParse,
  validate as graphqlValidate,
  specifiedRules,
  type ValidationRule,
} from 'graphql'
import { createDocumentCache } from './document-cache.ts'
import type { HandlerOptions, OperationArgs, OperationContext } from './options.ts'
import type { Request } from './request.ts'

/** From source text to a document, and from a document to its faults. */
export interface Documents<Raw, ReqContext, Context extends OperationContext> {
  /** Throws when the source does not parse. */
  parse(source: string): DocumentNode
  validate(
    req: Request<Raw, ReqContext>,
    args: OperationArgs<Context>,
    source: string,
  ): readonly GraphQLError[] | Promise<readonly GraphQLError[]>
}

/** graphql-js walks documents by recursion: one that is all nesting overflows the stack. */
function toDepthError(error: unknown): GraphQLError {
  if (error instanceof RangeError) return new GraphQLError('Document is nested too deeply')
  throw error
}

function parseSource(source: string): DocumentNode {
  try {
    return graphqlParse(source)
  } catch (error) {
    throw toDepthError(error)
  }
}

function validateDocument(
  schema: GraphQLSchema,
  document: DocumentNode,
  rules: readonly ValidationRule[] = specifiedRules,
): readonly GraphQLError[] {
  try {
    return graphqlValidate(schema, document, rules)
  } catch (error) {
    return [toDepthError(error)]
  }
}

export function openDocuments<Raw, ReqContext, Context extends OperationContext>({
  parse,
  validate,
  validationRules,
  documentCache = 2000,
}: HandlerOptions<Raw, ReqContext, Context>): Documents<Raw, ReqContext, Context> {
  // Functions of the user's own may answer differently each time: then nothing is remembered.
  if (!parse && !validate && !validationRules && documentCache) {
    const cache = createDocumentCache(documentCache, parseSource, validateDocument)
    return {
      parse: cache.parse,
      validate: (_req, { schema, document }, source) => cache.validate(schema, document, source),
    }
  }
  return {
    parse: parse ? (source) => parse(source) : parseSource,
    async validate(req, args) {
      const rules =
        typeof validationRules === 'function'
          ? await validationRules(req, args, specifiedRules)
          : [...specifiedRules, ...(validationRules ?? [])]
      return (validate ?? validateDocument)(args.schema, args.document, rules)
    },
  }
}
