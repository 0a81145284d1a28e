/** The other side sent more than we are ready to hold in memory. */
export class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLargeError'
}

/** Statuses whose responses have no body. */
const withoutBody = new Set([101, 204, 205, 304])

/** The same response. Reading more of its body than the limit fails, and ends the connection. */
export function limitBody(response: Response, maxBytes: number): Response {
  const { body, status, statusText, headers } = response
  if (body === null || withoutBody.has(status)) return response
  let bytes = 0
  const counted = body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.byteLength
        if (bytes > maxBytes) throw new BodyTooLargeError(`it sent more than ${toSize(maxBytes)}`)
        controller.enqueue(chunk)
      },
    }),
  )
  return new Response(counted, { status, statusText, headers })
}

function toSize(bytes: number): string {
  return `${bytes / 1024 / 1024} MB`
}
