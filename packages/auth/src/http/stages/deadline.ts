import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/**
 * Who waits gets an answer in time (AUTH_API_MAX_REQUEST_DURATION), whatever hangs: the body that
 * the client sends, a limit, the endpoint. What was begun goes on, and ends by time limits of its
 * own: what it answers then is not sent.
 */
export function addDeadline(
  server: FastifyInstance,
  timeoutMs: number,
  giveUp: (request: FastifyRequest, reply: FastifyReply) => void,
): void {
  server.addHook('onRequest', (request, reply, done) => {
    const timer = setTimeout(() => {
      if (reply.raw.headersSent) {
        // The rest of this answer will not come, unless it is the client that reads slowly.
        if (!reply.raw.writableEnded) reply.raw.destroy()
        return
      }
      // The rest of the body is not waited for either.
      if (!request.raw.complete) reply.header('connection', 'close')
      giveUp(request, reply)
    }, timeoutMs)
    reply.raw.once('close', () => clearTimeout(timer))
    done()
  })
}
