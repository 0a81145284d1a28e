import { type ExecutionResult, GraphQLError, type GraphQLErrorOptions } from 'graphql'
import { LimitError } from './document-limits.ts'
import { GRAPHQL_TYPE, JSON_TYPE, type MediaType } from './negotiate.ts'
import type { FormatError } from './options.ts'
import { MalformedRequestError } from './params.ts'
import { type Outcome, type Profile, STATUS_TEXT } from './profiles.ts'
import { BodyError, type Response, type ResponseHeaders, type ResponseInit } from './request.ts'

/** The content of a response: an execution result, or errors found before execution. */
type Result = Omit<ExecutionResult, 'errors'> & { readonly errors?: readonly Error[] | undefined }

// Created once, so that response header checks can cache these two strings.
const CONTENT_TYPES: Readonly<Record<MediaType, string>> = {
  [JSON_TYPE]: `${JSON_TYPE}; charset=utf-8`,
  [GRAPHQL_TYPE]: `${GRAPHQL_TYPE}; charset=utf-8`,
}

/** Turns the outcome of a request into a response. */
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
    // The refusal of mutations over GET is not an error of the schema, so it is not formatted.
    const isFormatted = errors && outcome !== 'unsafe'
    const body = stringify(
      result,
      isFormatted && errors.map((error) => formatError(replaceStackOverflow(error))),
    )
    return body === null
      ? encode({ errors: [new GraphQLError('Result is too deep or too large')] }, accepted)
      : [body, { status, statusText: STATUS_TEXT[status] ?? '', headers }]
  }
  return encode
}

/** The message of a stack overflow: in V8 and JavaScriptCore, then in SpiderMonkey. */
const ENGINE_TEXT = /call stack size exceeded|too much recursion/i

/** Replaces a stack overflow that a deep request has caused by an error for the client. */
function replaceStackOverflow(error: Error): Error {
  if (!ENGINE_TEXT.test(error?.message)) return error
  const { nodes, source, positions, path, originalError } = error as GraphQLError
  const options = { nodes, source, positions, path, originalError: originalError ?? error }
  return new GraphQLError('Operation is nested too deeply', options as GraphQLErrorOptions)
}

/** Only the message of a plain Error is sent: its stack and fields are for the log. */
const toPlain = (_key: string, value: unknown): unknown =>
  value instanceof Error ? { message: value.message } : value

/**
 * Returns null for a result that JSON cannot represent, such as deeply nested variables that a
 * resolver echoes.
 */
function stringify(result: Result, errors: readonly object[] | false | undefined): string | null {
  try {
    if (!errors) return JSON.stringify(result)
    if (!result.data) return JSON.stringify({ ...result, errors }, toPlain)
    // A replacer for the whole result would slow down the data, so only the errors are converted.
    return JSON.stringify({ ...result, errors: JSON.parse(JSON.stringify(errors, toPlain)) })
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

/** A result without `data` was never executed, so its errors are about the request. */
function getOutcome({ data, errors }: Result): Outcome {
  if (data === undefined) return 'invalid'
  return errors?.length ? 'partial' : 'success'
}

/** Encodes an exception thrown while a request was read; the outcome applies to GraphQL errors. */
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

/**
 * Compares the name too: with two copies of graphql loaded, `instanceof` recognizes only one of
 * them.
 */
function isGraphQLError(error: unknown): error is GraphQLError {
  return error instanceof GraphQLError || (error instanceof Error && error.name === 'GraphQLError')
}

/**
 * The response to a GraphQL error that sets the status in `extensions.http.status`, and headers in
 * `extensions.http.headers`; undefined for any other error. `extensions.http` is not sent to the
 * client.
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
