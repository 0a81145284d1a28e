import { MAX_BODY_BYTES, readBodyCopy } from './body.ts'

/** What an expectation checks. The body is read once, by the first expectation that needs it. */
export interface Answer {
  readonly response: Response
  readonly bytes: () => Promise<Uint8Array | undefined>
}

/** Returns undefined when it is met, and otherwise the reason why not. */
export type Expectation = (answer: Answer) => string | undefined | Promise<string | undefined>

export function toAnswer(response: Response): Answer {
  let bytes: Promise<Uint8Array | undefined> | undefined
  return {
    response,
    bytes: () => {
      bytes ??= readBodyCopy(response)
      return bytes
    },
  }
}

/** Returns the first reason from a list of expectations, or undefined when all are met. */
export async function findReason(
  answer: Answer,
  expectations: readonly Expectation[],
): Promise<string | undefined> {
  for (const expectation of expectations) {
    const reason = await expectation(answer)
    if (reason !== undefined) return reason
  }
  return undefined
}

export function status(...codes: readonly number[]): Expectation {
  return ({ response }) =>
    codes.includes(response.status)
      ? undefined
      : `Response status code is not ${codes.join(' or ')}`
}

export function statusBetween(
  ...ranges: readonly (readonly [min: number, max: number])[]
): Expectation {
  return ({ response }) => {
    if (ranges.some(([min, max]) => response.status >= min && response.status <= max)) {
      return undefined
    }
    const list = ranges.map(([min, max]) => `[${min}, ${max}]`).join(', ')
    const [only, ...more] = ranges
    return only && more.length === 0
      ? `Response status is not between ${only[0]} and ${only[1]}`
      : `Response status is not between any of the provided ranges: ${list}`
  }
}

/** Media types and charsets are case-insensitive (RFC 9110, section 8.3.1). */
function contentTypeHas(response: Response, part: string): boolean {
  return (response.headers.get('content-type') ?? '').toLowerCase().includes(part)
}

export function contentType(part: string): Expectation {
  return ({ response }) =>
    contentTypeHas(response, part)
      ? undefined
      : `Response header content-type does not contain ${part}`
}

export function contentTypeLacks(part: string): Expectation {
  return ({ response }) =>
    contentTypeHas(response, part) ? `Response header content-type contains ${part}` : undefined
}

export function header(name: string): Expectation {
  return ({ response }) =>
    response.headers.has(name) ? undefined : `Response header ${name} is missing`
}

/** Strict decoding rejects bytes that are not UTF-8; lenient decoding replaces them. */
export function utf8({ fatal }: { readonly fatal: boolean }): Expectation {
  return async (answer) => {
    const bytes = await answer.bytes()
    if (!bytes) return TOO_LONG
    try {
      new TextDecoder('utf-8', { fatal }).decode(bytes)
      return undefined
    } catch {
      return 'Response body is not UTF-8 encoded'
    }
  }
}

export function has(key: string): Expectation {
  return (answer) =>
    checkResult(answer, (result) =>
      key in result
        ? undefined
        : `Response body execution result does not have a property "${key}"`,
    )
}

export function lacks(key: string): Expectation {
  return (answer) =>
    checkResult(answer, (result) =>
      key in result ? `Response body execution result has a property "${key}"` : undefined,
    )
}

export const noData: Expectation = (answer) =>
  checkResult(answer, (result) =>
    result['data'] === undefined
      ? undefined
      : 'Response body execution result data is not "undefined"',
  )

export const nonNullData: Expectation = (answer) =>
  checkResult(answer, (result) =>
    (result['data'] ?? null) === null ? 'Response body execution result data is null' : undefined,
  )

/** A GraphQL response has `data`, or a non-empty list of `errors`. */
export const graphqlResponse: Expectation = (answer) =>
  checkResult(answer, (result) => {
    if (!('errors' in result)) {
      return 'data' in result ? undefined : 'Response body is not a GraphQL response'
    }
    const { errors } = result
    return Array.isArray(errors) &&
      errors.length > 0 &&
      errors.every((error) => typeof error?.message === 'string')
      ? undefined
      : 'Response body execution result errors is not a list of objects with a message'
  })

/** Met when all of the expectations are met. */
export function all(...expectations: readonly Expectation[]): Expectation {
  return (answer) => findReason(answer, expectations)
}

/** If the premise is met, the other expectations must be met too. */
export function when(premise: Expectation, ...rest: readonly Expectation[]): Expectation {
  return async (answer) =>
    (await premise(answer)) === undefined ? findReason(answer, rest) : undefined
}

const TOO_LONG = `Response body is longer than ${MAX_BODY_BYTES} bytes`

type Result = { readonly [key: string]: unknown }

function isResult(value: unknown): value is Result {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

async function checkResult(
  answer: Answer,
  check: (result: Result) => string | undefined,
): Promise<string | undefined> {
  const bytes = await answer.bytes()
  if (!bytes) return TOO_LONG
  let result: unknown
  try {
    result = JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return 'Response body is not valid JSON'
  }
  return isResult(result) ? check(result) : 'Response body is not a JSON object'
}
