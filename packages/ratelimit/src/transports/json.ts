import type { ServerResponse } from 'node:http'
import { toReason } from '@portcullis/service-kit/text/reason'
import { CounterKeyError, StoreError } from '../counters/counter-store.ts'
import type { Decide } from '../decide/decide.ts'
import { OverloadError, ServiceError } from '../decide/decision.ts'
import { OVER_LIMIT, type RateLimitRequest, type RateLimitResponse } from '../protocol/message.ts'
import { type HttpHandler, sendText } from './http-listener.ts'
import type { RequestBodies } from './request-bodies.ts'

export interface JsonSettings {
  readonly decide: Decide
  /** Throws when the text is not a valid request. */
  readonly parseRequest: (text: string) => RateLimitRequest
  readonly toResponseText: (response: RateLimitResponse) => string
  readonly bodies: RequestBodies
  readonly failures: Failures
}

/** The log of failed calls. */
export interface Failures {
  report(toMessage: () => string): void
}

/** A request has five levels; a much deeper one is an attack. */
const maxNesting = 32

// A byte order mark is kept, so that it is refused like any other invalid character.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * `/json`: 200 or 429 with the response, 400 for an invalid request, 413 for a body over the limit, 503 when
 * the store did not answer, or too many large requests are waiting or incomplete. The content type is ignored.
 * Any method is accepted; a request without a body gets 400 anyway.
 */
export function createJsonHandler(settings: JsonSettings): HttpHandler {
  const { decide, bodies, failures } = settings
  return (request, response) => {
    bodies.read(request, (body) => {
      if (body === 'aborted') return
      if (body === 'too many') {
        return refuse(
          response,
          new OverloadError('too many large requests are incomplete'),
          failures,
        )
      }
      if (body === 'too large') {
        failures.report(
          () => `error: the body is larger than HTTP_BODY_LIMIT_BYTES (${bodies.limitBytes} bytes)`,
        )
        return sendText(response, 413, 'Request Entity Too Large\n')
      }
      let message: RateLimitRequest
      try {
        message = parse(body, settings)
      } catch (error) {
        failures.report(() => `error: ${toReason(error)}`)
        return sendText(response, 400, 'Bad Request\n')
      }
      try {
        // HTTP requests have no deadline, so only the timeout of the store applies.
        decide(message, Number.POSITIVE_INFINITY, (error, answer) => {
          if (error !== undefined) return refuse(response, error, failures)
          answerWith(response, answer, settings)
        })
      } catch (error) {
        refuse(response, error, failures)
      }
    })
  }
}

function parse(body: Buffer, { parseRequest }: JsonSettings): RateLimitRequest {
  if (isNestedDeeperThan(body, maxNesting)) {
    throw new SyntaxError(`the JSON is nested deeper than ${maxNesting} levels`)
  }
  return parseRequest(utf8.decode(body))
}

function answerWith(
  response: ServerResponse,
  answer: RateLimitResponse | undefined,
  { toResponseText, failures }: JsonSettings,
): void {
  let text: string
  try {
    if (answer === undefined) throw new TypeError('the decision has no response')
    text = toResponseText(answer)
  } catch (error) {
    refuse(response, error, failures)
    return
  }
  sendJson(response, answer.overallCode === OVER_LIMIT ? 429 : 200, text)
}

function refuse(response: ServerResponse, error: unknown, failures: Failures): void {
  failures.report(() => `error: ${toReason(error)}`)
  if (error instanceof CounterKeyError) {
    sendText(response, 400, 'Bad Request\n')
  } else if (error instanceof StoreError || error instanceof OverloadError) {
    sendJson(response, 503, JSON.stringify({ error: error.message }))
  } else if (error instanceof ServiceError) {
    sendText(response, 400, 'Bad Request\n')
  } else {
    sendText(response, 500, 'Internal Server Error\n')
  }
}

function sendJson(response: ServerResponse, status: number, text: string): void {
  if (response.headersSent || response.destroyed) return
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  })
  response.end(text)
}

const quote = 0x22
const backslash = 0x5c
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

/** Counts only the brackets outside strings, without checking that the JSON is valid. */
export function isNestedDeeperThan(json: Uint8Array, maxDepth: number): boolean {
  let depth = 0
  let isInString = false
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at]
    if (isInString) {
      if (byte === backslash) at += 1
      else if (byte === quote) isInString = false
    } else if (byte === quote) {
      isInString = true
    } else if (byte === openBrace || byte === openBracket) {
      depth += 1
      if (depth > maxDepth) return true
    } else if (byte === closeBrace || byte === closeBracket) {
      depth -= 1
    }
  }
  return false
}
