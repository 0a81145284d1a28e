import type { ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

const timers = new WeakMap<ServerResponse, NodeJS.Timeout>()

/** For a response that lasts until the client disconnects. */
export function liftDeadline(response: ServerResponse): void {
  clearTimeout(timers.get(response))
}

/**
 * Responds within AUTH_API_MAX_REQUEST_DURATION even if the request body, a limit or the endpoint
 * stalls. Work that was started continues until its own time limits, but its response is not sent.
 */
export function addDeadline(
  server: FastifyInstance,
  timeoutMs: number,
  giveUp: (request: FastifyRequest, reply: FastifyReply) => void,
): void {
  server.addHook('onRequest', (request, reply, done) => {
    const timer = setTimeout(() => {
      if (reply.raw.headersSent) {
        // A response that was written completely only waits for a slow client; any other has stalled.
        if (!reply.raw.writableEnded) reply.raw.destroy()
        return
      }
      // The remaining body is not read.
      if (!request.raw.complete) reply.header('connection', 'close')
      giveUp(request, reply)
    }, timeoutMs)
    timers.set(reply.raw, timer)
    reply.raw.once('close', () => clearTimeout(timer))
    done()
  })
}
