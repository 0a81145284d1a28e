import type { IncomingMessage } from 'node:http'
import type { Request } from '../../request.ts'
import { bodyTooLarge, isDeclaredTooLarge } from './body-errors.ts'
import { decodeUtf8, readNodeBody } from './node-body.ts'

type Body = Request<unknown, unknown>['body']

/**
 * The body of a request in a framework with optional body parsers: what a parser left, else the
 * stream. Parsers for JSON, text and raw bytes are all understood.
 */
export function parsedOrStreamed(parsed: unknown, req: IncomingMessage, limitBytes: number): Body {
  if (!parsed || isPlaceholder(parsed, req)) return () => readNodeBody(req, limitBytes)
  return fromParser(parsed, req.headers['content-length'], limitBytes)
}

/** The body as a parser left it, whatever the kind of parser. */
export function fromParser(
  parsed: unknown,
  contentLength: string | undefined,
  limitBytes: number,
): Body {
  const size = toSize(parsed)
  if (size > limitBytes || isDeclaredTooLarge(contentLength, limitBytes)) {
    return () => Promise.reject(bodyTooLarge(limitBytes))
  }
  if (parsed instanceof Uint8Array) return () => decodeUtf8(parsed)
  if (typeof parsed === 'string' || isObject(parsed)) return parsed
  // JSON that is neither text nor object: the core says what is wrong with it.
  return parsed === undefined ? null : JSON.stringify(parsed)
}

/**
 * Some parsers put an empty object on requests that they leave alone, for example because of the
 * content type. Then the stream has not been touched.
 */
function isPlaceholder(parsed: unknown, req: IncomingMessage): boolean {
  return (
    !req.readableDidRead &&
    !req.readableEnded &&
    typeof parsed === 'object' &&
    parsed !== null &&
    Object.keys(parsed).length === 0
  )
}

function toSize(parsed: unknown): number {
  if (typeof parsed === 'string') return Buffer.byteLength(parsed)
  return parsed instanceof Uint8Array ? parsed.byteLength : 0
}

function isObject(value: unknown): value is { readonly [key: string]: unknown } | null {
  return typeof value === 'object'
}
