import { Buffer } from 'node:buffer'
import type { LimitResult } from '../../limiter/limit-result.ts'

/** The response to a request that is over a limit. */
export interface LimitedAnswer {
  /** Default: 429. */
  readonly status?: number | undefined
  /** Added to the fields that report the limit; fields with the same name are replaced. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /**
   * Text is sent as `text/plain` and an object as JSON, unless `headers` has another `content-type`.
   * Default: the body that is sent without `onLimited`.
   */
  readonly body?: string | Uint8Array | object | undefined
}

/** The return value of `onLimited`: a response, or undefined for the default response. */
export type LimitedOutcome = LimitedAnswer | Response | undefined | void

/** A response in the form that adapters send. */
export interface Answer {
  readonly status: number
  readonly headers: readonly HeaderPair[]
  readonly body: string | Buffer<ArrayBuffer>
}

/** Name and value of a header field. Names that the middleware chooses are in lower case. */
export type HeaderPair = readonly [name: string, value: string]

const json = 'application/json; charset=utf-8'

/** The response to requests for which no decision could be made. */
export const unavailable: Answer = {
  status: 503,
  headers: [['content-type', json]],
  body: JSON.stringify({ error: 'The rate limit could not be checked. Try again.' }),
}

/** The response if an option threw an error, on hosts that would otherwise leave the request unanswered. */
export const failed: Answer = {
  status: 500,
  headers: [['content-type', json]],
  body: JSON.stringify({ error: 'Internal server error.' }),
}

/** The response when `onLimited` is absent or returns undefined. */
export function toDefaultAnswer({ retryAfterSeconds = 1 }: LimitResult): Answer {
  const unit = retryAfterSeconds === 1 ? 'second' : 'seconds'
  const error = `Too many requests. Try again in ${retryAfterSeconds} ${unit}.`
  return { status: 429, headers: [['content-type', json]], body: JSON.stringify({ error }) }
}

/** Converts the result of `onLimited` to the form that adapters send. */
export async function toAnswer(outcome: LimitedOutcome, result: LimitResult): Promise<Answer> {
  if (outcome === undefined || outcome === null) return toDefaultAnswer(result)
  if (outcome instanceof Response) {
    const body = Buffer.from(await outcome.arrayBuffer())
    return { status: outcome.status, headers: [...outcome.headers], body }
  }
  const { status = 429, headers = {} } = outcome
  if (!Number.isInteger(status) || status < 200 || status > 599) {
    throw new TypeError(`onLimited: status must be a number from 200 to 599, not ${status}`)
  }
  const { type, body } = toBody(outcome.body, result)
  const given = Object.entries(headers)
  const hasType = given.some(([name]) => name.toLowerCase() === 'content-type')
  return { status, headers: hasType ? given : [['content-type', type], ...given], body }
}

function toBody(
  body: LimitedAnswer['body'],
  result: LimitResult,
): { type: string } & Pick<Answer, 'body'> {
  if (body === undefined) return { type: json, body: toDefaultAnswer(result).body }
  if (typeof body === 'string') return { type: 'text/plain; charset=utf-8', body }
  if (body instanceof Uint8Array) {
    return { type: 'application/octet-stream', body: Buffer.from(body) }
  }
  return { type: json, body: JSON.stringify(body) }
}
