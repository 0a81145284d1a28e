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
