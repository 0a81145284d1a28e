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
