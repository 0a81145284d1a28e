import { bodyAlreadyRead, bodyTooLarge, isDeclaredTooLarge } from './body-errors.ts'

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
  if (isDeclaredTooLarge(request.headers.get('content-length'), limitBytes)) {
    throw bodyTooLarge(limitBytes)
  }
  const bytes =
    limitBytes === Number.POSITIVE_INFINITY || request.body === null
      ? await request.arrayBuffer()
      : await readUpTo(limitBytes, request.body)
  // Strict, unlike `request.text()`, which silently replaces what is not UTF-8.
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
