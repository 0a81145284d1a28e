import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'

export interface KeptAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A keep-alive connection; all requests on it reach the same process. */
export interface KeptConnection {
  send(path: string, body?: unknown): Promise<KeptAnswer>
  /** Resolves when the server has closed the connection. */
  readonly closed: Promise<void>
}

export function openConnection(t: Pick<TestContext, 'after'>, url: string): KeptConnection {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  const closed = Promise.withResolvers<void>()
  const sockets = new WeakSet<object>()
  return {
    closed: closed.promise,
    async send(path, body) {
      const sent = request(new URL(path, url), {
        agent,
        ...(body !== undefined && { method: 'POST' }),
      })
      sent.once('socket', (socket) => {
        if (!sockets.has(socket)) socket.once('close', () => closed.resolve())
        sockets.add(socket)
      })
      sent.end(body === undefined ? undefined : JSON.stringify(body))
      return await new Promise((resolve, reject) => {
        sent.on('error', reject)
        sent.on('response', (response) => {
          const { statusCode: status = 0, headers } = response
          text(response).then((answer) => resolve({ status, headers, body: answer }), reject)
        })
      })
    },
  }
}
