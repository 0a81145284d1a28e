/** Audits never need a larger body; the limit keeps a server from exhausting the memory. */
export const MAX_BODY_BYTES = 1_048_576

/**
 * Reads a copy of the body, so that the response itself stays readable. Undefined when the body is
 * longer than the limit.
 */
export async function readBodyCopy(response: Response): Promise<Uint8Array | undefined> {
  const stream = response.clone().body
  if (stream === null) return new Uint8Array()
  const reader = stream.getReader()
  const chunks: Uint8Array[] = []
  let length = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return joinChunks(chunks, length)
    chunks.push(value)
    length += value.byteLength
    if (length > MAX_BODY_BYTES) {
      // Not awaited: cancelling a copy completes only once the original is cancelled too.
      void reader.cancel().catch(() => undefined)
      return undefined
    }
  }
}

/** Releases the connection. Errors are ignored, since a body that failed holds no connection. */
export async function discardBody(body: ReadableStream | null | undefined): Promise<void> {
  if (!body || body.locked) return
  await body.cancel().catch(() => undefined)
}

function joinChunks(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.byteLength
  }
  return bytes
}

/** The part of a Node stream that is used here. */
interface NodeStream extends AsyncIterable<Uint8Array<ArrayBuffer>> {
  destroy(): unknown
}

/**
 * Returns the response with a web stream as its body, which audits can copy and cancel. node-fetch
 * and libraries built on it have a Node stream instead.
 */
export function toWebResponse(response: Response): Response {
  const { body, status, statusText } = response
  if (!isNodeStream(body)) return response
  // The fetch standard does not allow a body with these statuses, not even an empty one.
  const isEmpty = status === 204 || status === 205 || status === 304
  if (isEmpty) body.destroy()
  const headers = [...response.headers]
  return new Response(isEmpty ? null : toWebStream(body), { status, statusText, headers })
}

function isNodeStream(body: unknown): body is NodeStream {
  return typeof body === 'object' && body !== null && 'destroy' in body && !('getReader' in body)
}

function toWebStream(stream: NodeStream): ReadableStream<Uint8Array<ArrayBuffer>> {
  const chunks = stream[Symbol.asyncIterator]()
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel() {
      stream.destroy()
    },
  })
}
