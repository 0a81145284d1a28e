import type { IncomingMessage } from 'node:http'
import { getHeader, type Request, type RequestHeaders } from '../../request.ts'
import type { BodyLimits } from './adapter-options.ts'
import { bodyTooLarge, encodingNotSupported, findFault, isEncoded } from './error-responses.ts'
import { decodeUtf8, readNodeBody } from './node-body.ts'

type Body = Request<unknown, unknown>['body']

/**
 * The body of a request in a framework with optional body parsers: the result of a parser if one
 * ran, otherwise the stream. Parsers for JSON, text and raw bytes are supported.
 */
export function parsedOrStreamed(parsed: unknown, req: IncomingMessage, limits: BodyLimits): Body {
  if (!parsed || isPlaceholder(parsed, req)) return () => readNodeBody(req, limits.read)
  return fromParser(parsed, req.headers, limits.parsed)
}

/** The body as a parser for JSON, text or raw bytes left it. */
export function fromParser(parsed: unknown, headers: RequestHeaders, limitBytes: number): Body {
  const contentLength = getHeader(headers, 'content-length')
  const isCompressed = isEncoded(getHeader(headers, 'content-encoding'))
  if (isLarger(parsed, contentLength, limitBytes)) return refuse(() => bodyTooLarge(limitBytes))
  if (parsed instanceof Uint8Array) {
    return () => {
      try {
        return decodeUtf8(parsed)
      } catch (error) {
        // Parsers that decompress keep the header, so only the bytes show whether the body is
        // compressed.
        throw isCompressed ? encodingNotSupported() : error
      }
    }
  }
  if (typeof parsed === 'string') {
    return isCompressed || isWholeBody(parsed, contentLength) ? parsed : JSON.stringify(parsed)
  }
  if (isObject(parsed)) return parsed
  // JSON that is neither text nor an object: the core reports the error.
  return parsed === undefined ? null : JSON.stringify(parsed)
}

/** The body of a serverless event: text, or bytes in base64. */
export function fromEvent(
  body: string | null | undefined,
  isBase64Encoded: boolean,
  headers: RequestHeaders,
  limitBytes: number,
): Body {
  const bytes = body && isBase64Encoded ? Buffer.from(body, 'base64') : body
  const fault = findFault(undefined, getHeader(headers, 'content-encoding'), limitBytes)
  if (fault) return refuse(() => fault)
  if (isLarger(bytes, undefined, limitBytes)) return refuse(() => bodyTooLarge(limitBytes))
  if (bytes instanceof Uint8Array) return () => decodeUtf8(bytes)
  return bytes ?? null
}

/** Throws only when the handler reads the body, which it does for POST only. */
function refuse(toError: () => Error): () => Promise<never> {
  return () => Promise.reject(toError())
}

/**
 * Some parsers set an empty object on requests that they skip, for example because of the content
 * type. The stream has not been read then.
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

/**
 * Distinguishes the text of a body from a string that was its JSON value, which a client that
 * encodes its request twice sends. The text is as long as the body, less a byte order mark. A
 * chunked body declares no length, so its string is taken for the text.
 */
function isWholeBody(text: string, contentLength: string | undefined): boolean {
  if (contentLength === undefined) return true
  const difference = Number(contentLength) - Buffer.byteLength(text)
  return difference === 0 || difference === 3
}

function isLarger(parsed: unknown, contentLength: string | undefined, limitBytes: number): boolean {
  if (limitBytes === Number.POSITIVE_INFINITY) return false
  if (parsed instanceof Uint8Array) return parsed.byteLength > limitBytes
  if (Number(contentLength ?? 0) > limitBytes) return true
  if (typeof parsed === 'string') return Buffer.byteLength(parsed) > limitBytes
  if (contentLength !== undefined) return false
  try {
    // A chunked body does not declare its length; the length of its JSON is never much larger.
    return Buffer.byteLength(JSON.stringify(parsed) ?? '') > limitBytes
  } catch {
    // It is nested too deeply to be serialized again.
    return true
  }
}

function isObject(value: unknown): value is { readonly [key: string]: unknown } | null {
  return typeof value === 'object'
}
