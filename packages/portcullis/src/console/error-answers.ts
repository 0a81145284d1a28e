import type { FastifyInstance, FastifyReply } from 'fastify'
import { BodyTooLargeError } from './bounded-body.ts'
import { securityHeaders } from './security-headers.ts'

/** A failure that the page shows as it is. */
export class ConsoleError extends Error {
  override readonly name = 'ConsoleError'
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, message: string, cause?: unknown) {
    super(message, { cause })
    this.status = status
    this.code = code
  }
}

/** Every failure is `{"error": {"code", "message"}}`; of our own mistakes the terminal tells more. */
export function addErrorAnswers(server: FastifyInstance): void {
  server.setErrorHandler(
    async (error: Error & { statusCode?: number; code?: string }, _request, reply) => {
      if (error instanceof ConsoleError) {
        const { status, code, message } = error
        return reply.code(status).send({ error: { code, message } })
      }
      if (error instanceof BodyTooLargeError) {
        const message = `A server that the console asked was cut off: ${error.message}.`
        return reply.code(502).send({ error: { code: 'upstream_too_large', message } })
      }
      const status = error.statusCode ?? 500
      if (status < 500) {
        return reply.code(status).send({ error: { code: 'bad_request', message: error.message } })
      }
      console.error('The console met an error:', error)
      const message = 'The console met an error of its own; the terminal says more.'
      return reply.code(500).send({ error: { code: 'unexpected', message } })
    },
  )
}

/** Of an address that is none. No hook has run yet: whoever it is learns nothing else. */
export function answerBadAddress(error: Error, _request: unknown, reply: FastifyReply): void {
  const status = 'statusCode' in error && error.statusCode === 414 ? 414 : 400
  const message = status === 414 ? 'The address is too long.' : 'The address cannot be read.'
  reply
    .code(status)
    .headers(securityHeaders)
    .send({ error: { code: 'bad_address', message } })
}

/** What to tell of whatever was thrown. */
export function toMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
