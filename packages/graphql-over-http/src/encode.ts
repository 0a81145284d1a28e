import { type ExecutionResult, GraphQLError, type GraphQLErrorOptions } from 'graphql'
import { LimitError } from './document-limits.ts'
import { GRAPHQL_TYPE, JSON_TYPE, type MediaType } from './negotiate.ts'
import type { FormatError } from './options.ts'
import { MalformedRequestError } from './params.ts'
import { type Outcome, type Profile, STATUS_TEXT } from './profiles.ts'
import { BodyError, type Response, type ResponseHeaders, type ResponseInit } from './request.ts'

/** What a response is made of: an execution result, or errors found before execution. */
type Result = Omit<ExecutionResult, 'errors'> & { readonly errors?: readonly Error[] | undefined }

// Made once, so that hosts and their checks see the same two strings every time.
const CONTENT_TYPES: Readonly<Record<MediaType, string>> = {
  [JSON_TYPE]: `${JSON_TYPE}; charset=utf-8`,
  [GRAPHQL_TYPE]: `${GRAPHQL_TYPE}; charset=utf-8`,
}

/** Turns what became of a request into a response. */
export type Encode = (result: Result, accepted: MediaType, outcome?: Outcome) => Response

export function createEncoder(
  profile: Profile,
  formatError: FormatError = (error) => error,
): Encode {
  const encode: Encode = (result, accepted, outcome = getOutcome(result)) => {
    const { errors } = result
    const [statusWhenJson, statusWhenGraphql, type = accepted] = profile[outcome]
    const status = accepted === JSON_TYPE ? statusWhenJson : statusWhenGraphql
    const headers: ResponseHeaders = {}
    if (outcome === 'unsafe') headers.allow = 'POST'
    if (type) headers['content-type'] = CONTENT_TYPES[type]
    // The guard against mutations over GET is not the schema's error, hence not formatted.
    const isFormatted = errors && outcome !== 'unsafe'
    const body = stringify(result, isFormatted && errors.map((error) => formatError(toOurs(error))))
    return body === null
      ? encode({ errors: [new GraphQLError('Result is too deep or too large')] }, accepted)
      : [body, { status, statusText: STATUS_TEXT[status] ?? '', headers }]
  }
  return encode
}

/** What engines say about a stack that overflows: V8 and JavaScriptCore, then SpiderMonkey. */
const ENGINE_TEXT = /call stack size exceeded|too much recursion/i

/** An error of the engine that a deep request has caused, in words for the client. */
function toOurs(error: Error): Error {
  if (!ENGINE_TEXT.test(error?.message)) return error
  const { nodes, source, positions, path, originalError } = error as GraphQLError
  const options = { nodes, source, positions, path, originalError: originalError ?? error }
  return new GraphQLError('Operation is nested too deeply', options as GraphQLErrorOptions)
}

/** Only the message of a plain Error goes out: its stack and fields are for the log. */
const toPlain = (_key: string, value: unknown): unknown =>
  value instanceof Error ? { message: value.message } : value

/** Null for what JSON cannot hold, such as echoed variables: reading has no limit to nesting. */
function stringify(result: Result, errors: readonly object[] | false | undefined): string | null {
  try {
    if (!errors) return JSON.stringify(result)
    if (!result.data) return JSON.stringify({ ...result, errors }, toPlain)
    // Looking at every value would slow down the data, so the errors are made plain by themselves.
    return JSON.stringify({ ...result, errors: JSON.parse(JSON.stringify(errors, toPlain)) })
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

/** A result without `data` was never executed: its errors are about the request. */
function getOutcome({ data, errors }: Result): Outcome {
  if (data === undefined) return 'invalid'
  return errors?.length ? 'partial' : 'success'
}

/** Encodes what was thrown while a request was read; for a GraphQL error the outcome is given. */
export function encodeFailure(
  encode: Encode,
  thrown: unknown,
  accepted: MediaType,
  outcome: Outcome,
): Response {
  if (thrown instanceof BodyError) return thrown.response
  const chosen = encodeChosenStatus(encode, thrown, accepted)
  if (chosen) return chosen
  const error = thrown instanceof Error ? thrown : new Error(String(thrown))
  const isGraphQL = isGraphQLError(error)
  const isMalformed = error instanceof MalformedRequestError
  const isLimit = error instanceof LimitError
  const kind = isGraphQL && !isLimit ? outcome : isMalformed ? 'malformed' : 'unreadable'
  return encode({ errors: [error] }, accepted, kind)
}

/** By name too: with two copies of graphql loaded, `instanceof` sees only its own. */
function isGraphQLError(error: unknown): error is GraphQLError {
  return error instanceof GraphQLError || (error instanceof Error && error.name === 'GraphQLError')
}

/**
 * The answer to a GraphQL error that decides the status by its `extensions.http.status`, and headers
 * by `extensions.http.headers`; undefined for any other. The client does not see `extensions.http`.
 */
export function encodeChosenStatus(
  encode: Encode,
  thrown: unknown,
  accepted: MediaType,
): Response | undefined {
  if (!isGraphQLError(thrown)) return undefined
  const { http, ...extensions } = thrown.extensions as { http?: Partial<ResponseInit> }
  const status = http?.status
  if (!Number.isInteger(status) || !(Number(status) >= 200 && Number(status) <= 599))
    return undefined
  const error: GraphQLError = Object.create(Object.getPrototypeOf(thrown), {
    ...Object.getOwnPropertyDescriptors(thrown),
    extensions: { value: extensions, enumerable: Object.keys(extensions).length > 0 },
  })
  const [body, init] = encode({ errors: [error] }, accepted, 'invalid')
  const headers = { ...init.headers, ...http?.headers }
  return [body, { status: Number(status), statusText: STATUS_TEXT[Number(status)] ?? '', headers }]
}
