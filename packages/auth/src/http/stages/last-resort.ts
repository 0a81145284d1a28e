import type { FastifyReply } from 'fastify'
import type { Answer } from '../call.ts'

/**
 * Answers a request whose answer could not be sent: a header that Node refuses, a body that is not JSON.
 * Fastify has no part in it, because what it was given is at fault. Where a part of the first answer is
 * on its way already, the connection is cut off: nobody waits for the rest.
 */
export function sendLastResort(reply: FastifyReply, { status, headers, body }: Answer): void {
  const { raw } = reply
  reply.hijack()
  if (raw.writableEnded) return
  try {
    if (raw.headersSent) throw new Error('A part of another answer has been sent')
    // Node drops the body of this answer too where the first one could have none.
    const hasBody = raw.statusCode >= 200 && raw.statusCode !== 204 && raw.statusCode !== 304
    const text = Buffer.from(hasBody ? JSON.stringify(body) : '')
    for (const name of raw.getHeaderNames()) raw.removeHeader(name)
    raw.writeHead(status, {
      ...headers,
      'content-type': 'application/json; charset=utf-8',
      'content-length': text.length,
      // The rest of the request may not have been read.
      connection: 'close',
    })
    raw.end(text)
  } catch {
    raw.destroy()
  }
}
