import {
  type DocumentNode,
  type ExecutionResult,
  GraphQLError,
  execute as graphqlExecute,
  getOperationAST as graphqlGetOperationAST,
  type OperationTypeNode,
} from 'graphql'
import { createEncoder, encodeFailure } from './encode.ts'
import { GRAPHQL_TYPE, JSON_TYPE, negotiate } from './negotiate.ts'
import { openDocuments } from './operation.ts'
import {
  checkOptions,
  type HandlerOptions,
  type OperationArgs,
  type OperationContext,
} from './options.ts'
import { parseRequestParams } from './params.ts'
import { type Outcome, profiles } from './profiles.ts'
import {
  getHeader,
  isResponse,
  type Request,
  type RequestParams,
  type Response,
} from './request.ts'

/** Answers one plain request. Rejects only when one of the user's own options throws. */
export type Handler<RequestRaw = unknown, RequestContext = unknown> = (
  req: Request<RequestRaw, RequestContext>,
) => Promise<Response>

/**
 * Makes the host-independent GraphQL-over-HTTP handler. Adapters translate to it and from it.
 *
 * ```ts
 * const handler = createHandler({ schema })
 * const [body, init] = await handler({ method, url, headers, body, raw, context })
 * ```
 */
export function createHandler<
  RequestRaw = unknown,
  RequestContext = unknown,
  Context extends OperationContext = undefined,
>(
  options: HandlerOptions<RequestRaw, RequestContext, Context>,
): Handler<RequestRaw, RequestContext> {
  checkOptions(options)
  const { schema, context, onSubscribe, onOperation, parseRequestParams: parseParams } = options
  const { execute = graphqlExecute, getOperationAST = graphqlGetOperationAST } = options
  const documents = openDocuments(options)
  const encode = createEncoder(profiles[options.profile ?? 'classic'], options.formatError)

  return async (req) => {
    const accepted = negotiate(getHeader(req.headers, 'accept'))
    if (!accepted) return notAcceptable()
    const refuse = (message: string, outcome: Outcome = 'invalid') =>
      encode({ errors: [new GraphQLError(message)] }, accepted, outcome)

    let params: RequestParams
    try {
      const parsed = (parseParams && (await parseParams(req))) || (await parseRequestParams(req))
      if (isResponse(parsed)) return parsed
      params = parsed
    } catch (error) {
      return encodeFailure(encode, error, accepted, 'invalid')
    }
    const makeContext = () => (typeof context === 'function' ? context(req, params) : context)

    let args: OperationArgs<Context>
    const given = onSubscribe && (await onSubscribe(req, params))
    // A list of no errors says that there is nothing to object to.
    if (given && !(Array.isArray(given) && given.length === 0)) {
      if (isResponse(given)) return given
      const result = toResult(given)
      if (isResult(result)) return encode(result, accepted)
      // The hook may hand out the same arguments every time.
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
      // Of something that is no document: it has no operation.
    }
    if (!operation) return refuse('Unable to detect operation AST')
    if (operation === 'subscription') return refuse(NO_SUBSCRIPTIONS)
    if (operation === 'mutation' && req.method === 'GET') {
      return refuse('Cannot perform mutations over GET', 'unsafe')
    }

    if (!('rootValue' in args)) args.rootValue = options.rootValue
    if (!('contextValue' in args)) {
      const contextValue = await makeContext()
      if (isResponse(contextValue)) return contextValue
      args.contextValue = contextValue
    }

    let result = execute(args)
    if (isPromise(result)) result = await result
    const replaced = onOperation && (await onOperation(req, args, result as ExecutionResult))
    if (isResponse(replaced)) return replaced
    const final: object = replaced || result

    const stream = 'subsequentResults' in final ? final.subsequentResults : final
    if (isAsyncIterable(stream)) {
      // Nobody will read it: lets its source stop.
      close(stream).catch(() => undefined)
      return refuse(stream === final ? NO_SUBSCRIPTIONS : NO_INCREMENTAL_DELIVERY)
    }
    return encode(toResult(final), accepted)
  }
}

const NO_SCHEMA =
  'The GraphQL schema is not provided: set option "schema", or return arguments from "onSubscribe"'
const NO_SUBSCRIPTIONS = 'Subscriptions are not supported'
const NO_INCREMENTAL_DELIVERY = 'Incremental delivery is not supported'

function notAcceptable(): Response {
  const accept = `${GRAPHQL_TYPE}; charset=utf-8, ${JSON_TYPE}; charset=utf-8`
  return [null, { status: 406, statusText: 'Not Acceptable', headers: { accept } }]
}

/** Errors without a result, one or a list, are the result. */
function toResult(value: object): object {
  return Array.isArray(value) || value instanceof Error ? { errors: [value].flat() } : value
}

/** A result has data, or nothing but errors; execution arguments always have a document. */
function isResult(value: object): value is ExecutionResult {
  return 'data' in value || ('errors' in value && !('document' in value))
}

async function close(stream: AsyncIterable<unknown>): Promise<void> {
  await stream[Symbol.asyncIterator]().return?.()
}

/** Awaiting what is no promise costs a turn of the microtask queue, which the common case saves. */
function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof (value as { readonly then?: unknown } | null | undefined)?.then === 'function'
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return Symbol.asyncIterator in Object(value)
}
