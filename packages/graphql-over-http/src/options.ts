import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLError,
  type GraphQLSchema,
  type getOperationAST,
  isSchema,
  type parse,
  type ValidationRule,
  type validate,
  version,
  versionInfo,
} from 'graphql'
import { type ProfileName, profiles } from './profiles.ts'
import type { Request, RequestParams, Response } from './request.ts'
import { findSimilarOption } from './similar-option.ts'

type PromiseOrValue<T> = T | Promise<T>

/** A context can be any value: a map, an instance of a class, a primitive. */
export type OperationContext = object | symbol | number | string | boolean | undefined | null

/** Execution arguments with a typed context. */
export type OperationArgs<Context extends OperationContext = undefined> = ExecutionArgs & {
  contextValue?: Context
}

/** Converts an error to what the client receives. */
export type FormatError = (error: Readonly<GraphQLError | Error>) => GraphQLError | Error | object

/**
 * Reads the parameters from a request. Return nothing to use the default parser, return a response
 * pair to end the request, or throw to refuse it.
 */
export type ParseRequestParams<RequestRaw = unknown, RequestContext = unknown> = (
  req: Request<RequestRaw, RequestContext>,
  // void allows a hook without a return statement, here and below.
) => PromiseOrValue<RequestParams | Response | null | undefined | void>

/** Parameters of a request that names a stored document. */
export type PersistedDocumentParams = Omit<RequestParams, 'query'> & {
  /** Identifies the document; undefined when only `extensions` do, as with Apollo's clients. */
  documentId?: string | undefined
}

/** Options of the host-independent handler; adapters add their own. */
export interface HandlerOptions<
  RequestRaw = unknown,
  RequestContext = unknown,
  Context extends OperationContext = undefined,
> {
  /**
   * The schema to execute against, or a function that chooses one per request. It can be left out
   * when `onSubscribe` builds the execution arguments.
   */
  schema?:
    | GraphQLSchema
    | ((
        req: Request<RequestRaw, RequestContext>,
        args: Omit<OperationArgs<Context>, 'schema'>,
      ) => PromiseOrValue<GraphQLSchema | Response>)
  /**
   * The value that resolvers receive as context, or a function that creates it. The function may
   * return `[null, { status, statusText }]` to end the request.
   */
  context?:
    | Context
    | ((
        req: Request<RequestRaw, RequestContext>,
        params: RequestParams,
      ) => PromiseOrValue<Context | Response>)
  /** Root value for resolvers, unless the execution arguments already have one. */
  rootValue?: unknown
  /** Replaces `parse` of graphql-js. Documents are then not cached. */
  parse?(...args: Parameters<typeof parse>): DocumentNode
  /** Replaces `validate` of graphql-js. Documents are then not cached. */
  validate?(...args: Parameters<typeof validate>): readonly GraphQLError[]
  /**
   * A list is added to the rules of the GraphQL specification, and each document is checked once. A
   * function returns the list that replaces them; documents are then not cached.
   */
  validationRules?:
    | readonly ValidationRule[]
    | ((
        req: Request<RequestRaw, RequestContext>,
        args: OperationArgs<Context>,
        specifiedRules: readonly ValidationRule[],
      ) => PromiseOrValue<readonly ValidationRule[]>)
  /** Replaces `execute` of graphql-js, for example by a compiling executor. */
  execute?: (args: ExecutionArgs) => PromiseOrValue<ExecutionResult | AsyncIterable<unknown>>
  /** Replaces `getOperationAST` of graphql-js; it distinguishes queries from mutations. */
  getOperationAST?: typeof getOperationAST
  /**
   * Called for every operation, before parsing. Return nothing to continue, execution arguments to
   * skip parsing and validation (they are trusted), a result or a list of errors to respond with,
   * or a response pair.
   */
  onSubscribe?: (
    req: Request<RequestRaw, RequestContext>,
    params: RequestParams,
  ) => PromiseOrValue<
    ExecutionResult | OperationArgs<Context> | readonly GraphQLError[] | Response | undefined | void
  >
  /** Called after execution. It may return another result, or a response pair. */
  onOperation?: (
    req: Request<RequestRaw, RequestContext>,
    args: OperationArgs<Context>,
    result: ExecutionResult,
  ) => PromiseOrValue<ExecutionResult | Response | undefined | void>
  /** Applied to every error that is sent. By default errors are sent unchanged. */
  formatError?: FormatError
  /**
   * Replaces or precedes the default parser of parameters. It is not called for a POST request that
   * a page of another site could have sent; see `csrfPrevention`.
   */
  parseRequestParams?: ParseRequestParams<RequestRaw, RequestContext>
  /**
   * With `parseRequestParams`: refuse a POST without `Content-Type`, or with the content type of a
   * form or of plain text, unless it has the header `GraphQL-Require-Preflight`. Browsers send such
   * requests across sites, with cookies and without a preflight. Default: true.
   */
  csrfPrevention?: boolean
  /**
   * Finds the source text for a request without `query`, by its `documentId` or its `extensions`.
   * Return nothing when the document does not exist: the response is then the error
   * `PersistedQueryNotFound`, which Apollo's clients understand. The text is parsed, validated and
   * cached like a query.
   */
  persistedDocument?: (
    req: Request<RequestRaw, RequestContext>,
    params: PersistedDocumentParams,
  ) => PromiseOrValue<string | Response | null | undefined>
  /** Which status codes to use: those of graphql-http, or those of the 2026 draft. */
  profile?: ProfileName
  /** How many valid documents to cache. Default: 2000; `false` disables the cache. */
  documentCache?: number | false
  /**
   * How many bytes the cached documents may take, by an estimate that errs on the high side.
   * Default: 16 MiB.
   */
  documentCacheBytes?: number
  /**
   * The maximum number of tokens in a document: names, punctuation and values. Default: 15,000;
   * `false` allows any number.
   */
  maxTokens?: number | false
  /**
   * How deeply fields may be nested, fragments included; `{ a { b } }` has depth 2. Introspection
   * (`__schema`, `__type`) is not counted. Default: any depth that the engine can process.
   */
  maxDepth?: number | false
  /**
   * How many aliases an operation may have. The aliases of a fragment count each time it is spread.
   * Default: any number.
   */
  maxAliases?: number | false
}

type Rule = readonly [wanted: string, isAllowed: (value: never) => boolean]

const isFunction = (value: unknown): boolean => typeof value === 'function'
const aFunction: Rule = ['a function', isFunction]
const isCount = (value: unknown): boolean => typeof value === 'number' && value >= 0
const aLimit: Rule = ['a number or false', (value: unknown) => value === false || isCount(value)]

const RULES: { readonly [option: string]: Rule } = {
  schema: [
    'a GraphQLSchema or a function',
    (value: GraphQLSchema) => isFunction(value) || isFunction(value.getTypeMap),
  ],
  validationRules: [
    'a list or a function',
    (value: unknown) => isFunction(value) || Array.isArray(value),
  ],
  csrfPrevention: ['a boolean', (value: unknown) => typeof value === 'boolean'],
  persistedDocument: aFunction,
  profile: ['"classic" or "2026"', (value: string) => Object.hasOwn(profiles, value)],
  documentCache: aLimit,
  documentCacheBytes: ['a number of bytes', (value: unknown) => isCount(value)],
  maxTokens: aLimit,
  maxDepth: aLimit,
  maxAliases: aLimit,
  parse: aFunction,
  validate: aFunction,
  execute: aFunction,
  getOperationAST: aFunction,
  onSubscribe: aFunction,
  onOperation: aFunction,
  formatError: aFunction,
  parseRequestParams: aFunction,
}

const KNOWN = ['context', 'rootValue', ...Object.keys(RULES)]

/**
 * Rejects invalid options by name when the handler is created, before they cause an obscure error at
 * the first request.
 *
 * @param more - names of options that are checked elsewhere.
 */
export function checkOptions(options: HandlerOptions, more: readonly string[] = []): void {
  if (!options || typeof options !== 'object') {
    throw new TypeError('createHandler: pass an object of options, at least { schema }')
  }
  if (!options.schema && ('headers' in options || 'req' in options)) {
    throw new TypeError(
      'createHandler was called with a request. Register the handler that ' +
        'createHandler({ schema }) returns, not createHandler itself',
    )
  }
  const known = [...KNOWN, ...more]
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue
    if (name === 'typeDefs' || name === 'resolvers') throw new TypeError(NO_TYPE_DEFS)
    if (!known.includes(name)) {
      const similar = findSimilarOption(name, known)
      throw new TypeError(
        `createHandler: unknown option "${name}". ${
          similar ? `Did you mean "${similar}"?` : `The options are: ${known.join(', ')}`
        }`,
      )
    }
    const [wanted, isAllowed] = RULES[name] ?? []
    if (value != null && isAllowed && !isAllowed(value as never)) {
      const hint = name === 'schema' ? describeNonSchema(value) : ''
      throw new TypeError(`createHandler: option "${name}" must be ${wanted}${hint}`)
    }
  }
  const { schema, execute, validate, onSubscribe } = options
  if (!schema && !onSubscribe) throw new TypeError(NO_SCHEMA)
  const usesGraphql = !onSubscribe && !(validate && execute)
  if (usesGraphql && isGraphQLSchema(schema) && !isOfThisGraphql(schema)) {
    throw new TypeError(
      'createHandler: the schema was made by another copy of graphql than the one this handler ' +
        `imports (${version}). Install a single copy: "npm ls graphql" lists all, and "overrides" ` +
        'in package.json selects one',
    )
  }
  // graphql 17 refuses every operation on such a schema.
  const isIncremental = (name: string) => isGraphQLSchema(schema) && schema.getDirective(name)
  if (!execute && versionInfo.major > 16 && (isIncremental('defer') || isIncremental('stream'))) {
    throw new TypeError(
      'createHandler: the schema declares @defer or @stream, which "execute" of graphql ' +
        `${versionInfo.major} refuses and this handler does not support. Remove the directives from ` +
        'the schema, or pass an option "execute" that ignores them',
    )
  }
}

export const NO_SCHEMA =
  'The GraphQL schema is not provided: set option "schema", or return arguments from "onSubscribe"'

const NO_TYPE_DEFS =
  'createHandler: the options "typeDefs" and "resolvers" are not supported. Pass a "schema" made of them, ' +
  'for example by makeExecutableSchema of @graphql-tools/schema'

/** The advice for a schema given as text or as a promise; empty for any other value. */
function describeNonSchema(value: unknown): string {
  if (typeof value === 'string') return ', not text: pass buildSchema(text)'
  const isPromise = isFunction((value as { readonly then?: unknown }).then)
  return isPromise ? ', not a promise: await it first' : ''
}

/**
 * graphql refuses to validate and execute a schema from another copy of itself. graphql 16 already
 * throws here.
 */
function isOfThisGraphql(schema: GraphQLSchema): boolean {
  try {
    return isSchema(schema)
  } catch {
    return false
  }
}

const isGraphQLSchema = (value: HandlerOptions['schema']): value is GraphQLSchema =>
  typeof value === 'object' && value !== null
