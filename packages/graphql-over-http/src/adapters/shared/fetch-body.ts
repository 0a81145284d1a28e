import { bodyAlreadyRead, bodyTooLarge, findFault } from './error-responses.ts'

export function isFetchRequest(
  request: { readonly headers?: { readonly get?: unknown } } | undefined,
): boolean {
  return typeof request?.headers?.get === 'function'
}

/** Runtimes abort the signal of a request when its client disconnects. */
export function openFetchSignal(request: globalThis.Request): AbortSignal | undefined {
  return request.signal
}

/** Reads the body of a fetch request as text. Runs wherever there is a fetch API. */
export async function readFetchBody(
  request: globalThis.Request,
  limitBytes: number,
): Promise<string> {
  if (request.bodyUsed) {
    throw bodyAlreadyRead(
      'call the GraphQL handler before other code reads the request, or give it a copy made by ' +
        '"request.clone()"',
    )
  }
  const { headers } = request
  const fault = findFault(
    headers.get('content-length'),
    headers.get('content-encoding'),
    limitBytes,
  )
  if (fault) throw fault
  const bytes =
    limitBytes === Number.POSITIVE_INFINITY || request.body === null
      ? await request.arrayBuffer()
      : await readUpTo(limitBytes, request.body)
  // Strict, unlike `request.text()`, which silently replaces invalid UTF-8.
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
}

async function readUpTo(limitBytes: number, body: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.byteLength
    if (size > limitBytes) throw bodyTooLarge(limitBytes)
    chunks.push(chunk)
  }
  const bytes = new Uint8Array(size)
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.byteLength
  }
  return bytes
}
