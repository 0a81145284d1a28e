/** The part of a stream of Node that matters here. */
interface NodeStream extends AsyncIterable<Uint8Array<ArrayBuffer>> {
  destroy(): unknown
}

/**
 * The response with a web stream as body, which is what audits copy and cancel. node-fetch, and what
 * builds on it, has a stream of Node there.
 */
export function toWebResponse(response: Response): Response {
  const { body, status, statusText } = response
  if (!isNodeStream(body)) return response
  // The fetch standard allows no body with these, not even an empty one.
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
