import {
  type DocumentNode,
  type ExecutionResult,
  GraphQLError,
  execute as graphqlExecute,
  getOperationAST as graphqlGetOperationAST,
  type OperationTypeNode,
  versionInfo,
} from 'graphql'
import { createEncoder, encodeChosenStatus, encodeFailure } from './encode.ts'
import { GRAPHQL_TYPE, JSON_TYPE, negotiate } from './negotiate.ts'
import { openDocuments } from './operation.ts'
import {
  checkOptions,
  type HandlerOptions,
  NO_SCHEMA,
  type OperationArgs,
  type OperationContext,
} from './options.ts'
import { isSafe, type LooseParams, readParams, refuseCrossSite } from './params.ts'
import { type Outcome, profiles } from './profiles.ts'
import {
  createRefusal,
  getHeader,
  isResponse,
  type Request,
  type RequestParams,
  type Response,
} from './request.ts'

/** Responds to one plain request. Rejects only if one of the user's options throws. */
export type Handler<RequestRaw = unknown, RequestContext = unknown> = (
  req: Request<RequestRaw, RequestContext>,
) => Promise<Response>

/**
 * Makes the host-independent GraphQL-over-HTTP handler. Adapters translate between a host and this handler.
 *
 * @example
 * ```ts
 * import { createHandler } from '@portcullis/graphql-over-http'
 * import { buildSchema } from 'graphql'
 *
 * const handler = createHandler({ schema: buildSchema('type Query { hello: String }') })
 * const [body, init] = await handler({
 *   method: 'GET',
 *   url: '/graphql?query={hello}',
 *   headers: {},
 *   body: null,
 *   raw: undefined,
 *   context: undefined,
 * })
 * ```
 */
export function createHandler<
  RequestRaw = unknown,
  RequestContext = unknown,
  Context extends OperationContext = undefined,
>(options: HandlerOptions<RequestRaw, RequestContext, Context>): Handler<RequestRaw, RequestContext>
/** An overload for callers that specify only the type of the context. */
export function createHandler<Context extends OperationContext>(
  options: HandlerOptions<unknown, unknown, Context>,
): Handler
export function createHandler<
  RequestRaw = unknown,
  RequestContext = unknown,
  Context extends OperationContext = undefined,
>(
  options: HandlerOptions<RequestRaw, RequestContext, Context>,
): Handler<RequestRaw, RequestContext> {
  const handle = openHandler(options)
  return (req) => {
    // The core handler was registered on a server directly; the server would never get a response.
    const { on, clone } = req as { readonly on?: unknown; readonly clone?: unknown }
    return on || clone ? Promise.reject(new TypeError(NOT_PLAIN)) : handle(req)
  }
}

const NOT_PLAIN =
  'The handler of "@portcullis/graphql-over-http" takes a plain request and returns [body, init]. ' +
  'Import createHandler from the adapter of your server instead, for example ' +
  '"@portcullis/graphql-over-http/use/http"'

/** The handler of an adapter, which accepts additional options. */
export function openHandler<RequestRaw, RequestContext, Context extends OperationContext>(
  options: HandlerOptions<RequestRaw, RequestContext, Context>,
  moreOptions?: readonly string[],
): Handler<RequestRaw, RequestContext> {
  checkOptions(options as HandlerOptions, moreOptions)
  const { schema, context, onSubscribe, onOperation, persistedDocument } = options
  const { execute = graphqlExecute, getOperationAST = graphqlGetOperationAST } = options
  const { parseRequestParams: parseParams, csrfPrevention = true } = options
  // graphql 16 does not support abort signals.
  const isAbortable = options.execute !== undefined || versionInfo.major > 16
  const documents = openDocuments(options)
  const encode = createEncoder(profiles[options.profile ?? 'classic'], options.formatError)

  return async (req) => {
    const accepted = negotiate(getHeader(req.headers, 'accept'))
    if (!accepted) return notAcceptable()
    const refuse = (message: string, outcome: Outcome = 'invalid') =>
      encode({ errors: [new GraphQLError(message)] }, accepted, outcome)

    try {
      let loose: LooseParams
      try {
        const refusal = parseParams && csrfPrevention && refuseCrossSite(req)
        if (refusal) return refusal
        const parsed =
          (parseParams && (await parseParams(req))) || (await readParams(req, !!persistedDocument))
        if (isResponse(parsed)) return parsed
        loose = parsed
      } catch (error) {
        return encodeFailure(encode, error, accepted, 'invalid')
      }
      if (loose.query === undefined && persistedDocument) {
        const found = await persistedDocument(req, loose)
        if (isResponse(found)) return found
        if (!found) return encode({ errors: [notPersisted()] }, accepted)
        loose.query = found
      }
      const params = loose as RequestParams
      const makeContext = () => (typeof context === 'function' ? context(req, params) : context)

      let args: OperationArgs<Context>
      const given = onSubscribe && (await onSubscribe(req, params))
      // An empty list of errors means that the hook has no objection.
      if (given && !(Array.isArray(given) && given.length === 0)) {
        if (isResponse(given)) return given
        const result = toResult(given)
        if (isResult(result)) return encode(result, accepted)
        // The hook may return the same arguments object every time, so it is copied before changes.
        args = { ...(given as OperationArgs<Context>) }
      } else {
        if (!schema) throw new Error(NO_SCHEMA)
        const { query, operationName, variables: variableValues } = params
        let document: DocumentNode
        try {
          document = documents.parse(query)
        } catch (error) {
          return encodeFailure(encode, error, accepted, 'syntax')
        }
        let contextValue = makeContext()
        if (isPromise(contextValue)) contextValue = await contextValue
        if (isResponse(contextValue)) return contextValue
        const prepared = { operationName, document, variableValues, contextValue }
        const chosen = typeof schema === 'function' ? await schema(req, prepared) : schema
        if (isResponse(chosen)) return chosen
        args = { ...prepared, schema: chosen }
        let errors = documents.validate(req, args, query)
        if (isPromise(errors)) errors = await errors
        if (errors.length > 0) return encode({ errors }, accepted)
      }

      let operation: OperationTypeNode | undefined
      try {
        operation = getOperationAST(args.document, args.operationName)?.operation
      } catch {
        // The value is not a document, so it has no operation.
      }
      if (!operation) return refuse('Unable to detect operation AST')
      if (operation === 'subscription') return refuse(NO_SUBSCRIPTIONS)
      if (operation === 'mutation' && isSafe(req.method)) {
        return refuse('Cannot perform mutations over GET', 'unsafe')
      }

      if (!('rootValue' in args)) args.rootValue = options.rootValue
      if (!('contextValue' in args)) {
        const contextValue = await makeContext()
        if (isResponse(contextValue)) return contextValue
        args.contextValue = contextValue
      }
      // A mutation is not aborted midway when its client disconnects.
      if (isAbortable && operation === 'query' && !('abortSignal' in args)) {
        const { signal } = req
        if (signal) Object.assign(args, { abortSignal: signal })
      }

      let result = execute(args)
      if (isPromise(result)) result = await result
      const replaced = onOperation && (await onOperation(req, args, result as ExecutionResult))
      if (isResponse(replaced)) return replaced
      const final: object = replaced || result

      const stream = 'subsequentResults' in final ? final.subsequentResults : final
      if (isAsyncIterable(stream)) {
        // No client will read the stream, so it is closed to let its source stop.
        close(stream).catch(() => undefined)
        return refuse(stream === final ? NO_SUBSCRIPTIONS : NO_INCREMENTAL_DELIVERY)
      }
      return encode(toResult(final), accepted)
    } catch (error) {
      if (isDisconnect(error, req)) return CLIENT_GONE
      const response = encodeChosenStatus(encode, error, accepted)
      if (response) return response
      throw error
    }
  }
}

const NO_SUBSCRIPTIONS = 'Subscriptions are not supported'
const NO_INCREMENTAL_DELIVERY = 'Incremental delivery is not supported'

/** Never received by a client. nginx logs the same status for closed requests. */
const CLIENT_GONE: Response = [null, { status: 499, statusText: 'Client Closed Request' }]

/** Whether an exception only means that the client has disconnected. */
function isDisconnect(error: unknown, { signal }: Pick<Request<unknown, unknown>, 'signal'>) {
  if (!signal?.aborted || !(error instanceof Error)) return false
  // graphql 17 wraps the abort reason.
  return error.name === 'AbortError' || error === signal.reason || error.cause === signal.reason
}

/** The error message and code on which Apollo's clients send the whole document. */
function notPersisted(): GraphQLError {
  const extensions = { code: 'PERSISTED_QUERY_NOT_FOUND' }
  return new GraphQLError('PersistedQueryNotFound', { extensions })
}

function notAcceptable(): Response {
  const accept = `${GRAPHQL_TYPE}; charset=utf-8, ${JSON_TYPE}; charset=utf-8`
  const message = `Accept must allow ${GRAPHQL_TYPE} or ${JSON_TYPE}`
  return createRefusal(406, 'Not Acceptable', message, { accept })
}

/** Wraps errors without a result, one or a list, in a result. */
function toResult(value: object): object {
  return Array.isArray(value) || value instanceof Error ? { errors: [value].flat() } : value
}

/** A result has data, or nothing but errors, whereas execution arguments always have a document. */
function isResult(value: object): value is ExecutionResult {
  return 'data' in value || ('errors' in value && !('document' in value))
}

async function close(stream: AsyncIterable<unknown>): Promise<void> {
  await stream[Symbol.asyncIterator]().return?.()
}

/**
 * Avoids awaiting values that are not promises, which would cost a microtask turn in the common
 * case.
 */
function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof (value as { readonly then?: unknown } | null | undefined)?.then === 'function'
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return Symbol.asyncIterator in Object(value)
}
