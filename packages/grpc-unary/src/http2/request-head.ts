import { type Field, fieldRole } from '../hpack/field.ts'

/** The header fields of one request, checked against RFC 9113 8.2 and 8.3. */
export class RequestHead {
  readonly fields: readonly Field[]
  readonly method: string
  readonly path: string
  readonly contentType: string
  /** The value of `grpc-timeout`; empty if it is missing. */
  readonly timeout: string
  /** -1 if the request has no `content-length`. */
  readonly contentLength: number
  /** The size of the fields in memory (RFC 7541 4.1). */
  readonly size: number

  constructor(fields: readonly Field[], size: number, summary: Summary) {
    this.fields = fields
    this.size = size
    this.method = summary.method ?? ''
    this.path = summary.path ?? ''
    this.contentType = summary.contentType
    this.timeout = summary.timeout
    this.contentLength = summary.contentLength
  }

  /** The value of a field; several fields of the same name form one list (RFC 9110 5.3). */
  header(name: string): string | undefined {
    let value: string | undefined
    for (const field of this.fields) {
      if (field.name === name) value = value === undefined ? field.value : `${value},${field.value}`
    }
    return value
  }
}

interface Summary {
  method: string | undefined
  path: string | undefined
  scheme: string | undefined
  authority: string | undefined
  contentType: string
  timeout: string
  contentLength: number
}

/** Takes the place of a head that was too large to keep. */
export const unknownHead = new RequestHead([], 0, {
  method: '',
  path: '',
  scheme: '',
  authority: '',
  contentType: '',
  timeout: '',
  contentLength: -1,
})

/** Returns undefined if the request is malformed. */
export function parseRequestHead(fields: readonly Field[], size: number): RequestHead | undefined {
  const summary: Summary = {
    method: undefined,
    path: undefined,
    scheme: undefined,
    authority: undefined,
    contentType: '',
    timeout: '',
    contentLength: -1,
  }
  // RFC 9113 8.3: pseudo-header fields come first, each at most once.
  let isPseudoOver = false
  for (const field of fields) {
    const role = field.role
    if (role === fieldRole.forbidden) return undefined
    if (role >= fieldRole.method && role <= fieldRole.authority) {
      if (isPseudoOver || !takePseudo(summary, field)) return undefined
      continue
    }
    isPseudoOver = true
    if (role === fieldRole.contentType) summary.contentType = field.value
    else if (role === fieldRole.timeout) summary.timeout = field.value
    else if (role === fieldRole.contentLength && !takeLength(summary, field)) return undefined
  }
  return isComplete(summary) ? new RequestHead(fields, size, summary) : undefined
}

/**
 * Trailers contain no pseudo-header field and nothing that is forbidden in a request (RFC 9113
 * 8.1).
 */
export function areTrailers(fields: readonly Field[]): boolean {
  return fields.every(
    ({ role }) =>
      role !== fieldRole.forbidden && !(role >= fieldRole.method && role <= fieldRole.authority),
  )
}

/** Returns false if the pseudo-header field is repeated. */
function takePseudo(summary: Summary, { role, value }: Field): boolean {
  const name =
    role === fieldRole.method
      ? 'method'
      : role === fieldRole.path
        ? 'path'
        : role === fieldRole.scheme
          ? 'scheme'
          : 'authority'
  if (summary[name] !== undefined) return false
  summary[name] = value
  return true
}

function takeLength(summary: Summary, field: Field): boolean {
  if (!/^\d{1,15}$/.test(field.value)) return false
  const length = Number(field.value)
  if (summary.contentLength >= 0 && summary.contentLength !== length) return false
  summary.contentLength = length
  return true
}

function isComplete({ method, path, scheme, authority }: Summary): boolean {
  if (!method) return false
  // RFC 9113 8.5: CONNECT has only an authority. Every other method needs scheme and path.
  if (method === 'CONNECT') return !!authority && scheme === undefined && path === undefined
  return !!scheme && !!path
}
