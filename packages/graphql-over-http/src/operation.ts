import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  parse as graphqlParse,
  validate as graphqlValidate,
  specifiedRules,
  type ValidationRule,
} from 'graphql'
import { createDocumentCache, DEFAULT_CACHE_BYTES } from './document-cache.ts'
import { checkExtent, checkTokens, DEFAULT_MAX_TOKENS, tooManyTokens } from './document-limits.ts'
import type { HandlerOptions, OperationArgs, OperationContext } from './options.ts'
import type { Request } from './request.ts'

/** Parses source text to a document, and validates documents. */
export interface Documents<Raw, ReqContext, Context extends OperationContext> {
  /** Throws when the source does not parse. */
  parse(source: string): DocumentNode
  validate(
    req: Request<Raw, ReqContext>,
    args: OperationArgs<Context>,
    source: string,
  ): readonly GraphQLError[] | Promise<readonly GraphQLError[]>
}

/** graphql-js walks documents recursively, so deep nesting overflows the stack. */
function toDepthError(error: unknown): GraphQLError {
  if (error instanceof RangeError) return new GraphQLError('Document is nested too deeply')
  throw error
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

type ParserOptions = Pick<HandlerOptions, 'parse' | 'maxTokens' | 'maxDepth' | 'maxAliases'>

/** Wraps the parser from the options, or that of graphql-js, with the limits from the options. */
function createParser({
  parse,
  maxTokens = DEFAULT_MAX_TOKENS,
  maxDepth = false,
  maxAliases = false,
}: ParserOptions): (source: string) => DocumentNode {
  const parseSource = (source: string): DocumentNode => {
    if (parse) {
      if (maxTokens !== false) checkTokens(source, maxTokens)
      return parse(source)
    }
    try {
      return graphqlParse(source, maxTokens === false ? {} : { maxTokens })
    } catch (error) {
      const isLimit = error instanceof Error && error.message.endsWith('Parsing aborted.')
      throw isLimit && maxTokens !== false ? tooManyTokens(maxTokens) : toDepthError(error)
    }
  }
  return (source) => {
    const document = parseSource(source)
    try {
      checkExtent(document, maxDepth, maxAliases)
    } catch (error) {
      throw toDepthError(error)
    }
    return document
  }
}

const isEqual = (a: readonly unknown[], b: readonly unknown[]): boolean =>
  a.length === b.length && a.every((item, index) => item === b[index])

export function openDocuments<Raw, ReqContext, Context extends OperationContext>(
  options: HandlerOptions<Raw, ReqContext, Context>,
): Documents<Raw, ReqContext, Context> {
  const { parse, validate, validationRules, documentCache = 2000, documentCacheBytes } = options
  const parseSource = createParser(options as ParserOptions)

  // Functions of the user may return different results each time, so nothing is cached then. A list
  // of rules sees only the document and the schema.
  if (!parse && !validate && typeof validationRules !== 'function' && documentCache) {
    const added = validationRules ?? []
    let rules: readonly ValidationRule[] = []
    let cache: ReturnType<typeof createDocumentCache>
    const reset = () => {
      const current = (rules = [...added])
      // Some lists repeat the rules of the GraphQL specification.
      const all = [...new Set([...specifiedRules, ...current])]
      cache = createDocumentCache(
        documentCache,
        documentCacheBytes ?? DEFAULT_CACHE_BYTES,
        parseSource,
        (schema, document) => validateDocument(schema, document, all),
      )
    }
    reset()
    return {
      parse: (source) => cache.parse(source),
      validate(_req, { schema, document }, source) {
        // The application may change its list of rules after the handler was created.
        if (!isEqual(added, rules)) reset()
        return cache.validate(schema, document, source)
      },
    }
  }
  return {
    parse: parseSource,
    async validate(req, args) {
      const rules =
        typeof validationRules === 'function'
          ? await validationRules(req, args, specifiedRules)
          : [...specifiedRules, ...(validationRules ?? [])]
      return (validate ?? validateDocument)(args.schema, args.document, rules)
    },
  }
}
