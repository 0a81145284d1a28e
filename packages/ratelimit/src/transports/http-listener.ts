import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export type HttpHandler = (request: IncomingMessage, response: ServerResponse) => void

export interface HttpListenerSettings {
  readonly host: string
  readonly port: number
  /** By exact path. */
  readonly routes: Readonly<Record<string, HttpHandler>>
  /** For every other path. */
  readonly otherwise?: HttpHandler
  readonly timeouts?: HttpTimeouts
}

/** How long a client has before it is cut off. */
export interface HttpTimeouts {
  /** To send the headers of a request. */
  readonly headersMs: number
  /** To send a whole request. */
  readonly requestMs: number
  /** To read on, or to send the next request. */
  readonly idleMs: number
}

export interface HttpListener extends AsyncDisposable {
  /** As it is written in the log: `0.0.0.0:8080`. */
  readonly address: string
  readonly port: number
  /** Takes no new connections and resolves once those there are have ended, or when told to. */
  close(giveUp?: AbortSignal): Promise<void>
}

const defaultTimeouts: HttpTimeouts = { headersMs: 10_000, requestMs: 30_000, idleMs: 60_000 }

/** Rejects when the address cannot be listened on. */
export async function openHttpListener(settings: HttpListenerSettings): Promise<HttpListener> {
  const { routes, otherwise = notFound, timeouts = defaultTimeouts } = settings
  /** With the number of requests that each has open. */
  const connections = new Map<Socket, number>()
  let isClosing = false
  const count = (socket: Socket, change: 1 | -1) => {
    const open = connections.get(socket)
    if (open === undefined) return
    connections.set(socket, open + change)
    if (isClosing && open + change === 0) socket.destroySoon()
  }

  const server = createServer(
    {
      headersTimeout: timeouts.headersMs,
      requestTimeout: timeouts.requestMs,
      keepAliveTimeout: timeouts.idleMs,
      connectionsCheckingInterval: Math.min(timeouts.headersMs, 2_000),
      noDelay: true,
    },
    (request, response) => {
      const { socket } = request
      count(socket, 1)
      response.once('close', () => count(socket, -1))
      if (isClosing) response.setHeader('connection', 'close')
      const path = toPath(request.url ?? '/')
      const handle = Object.hasOwn(routes, path) ? routes[path] : undefined
      ;(handle ?? otherwise)(request, response)
    },
  )
  server.timeout = timeouts.idleMs
  server.on('connection', (socket) => {
    connections.set(socket, 0)
    socket.once('close', () => connections.delete(socket))
  })
  server.listen({ host: settings.host, port: settings.port })
  await once(server, 'listening')

  const bound = server.address()
  const port = typeof bound === 'object' && bound !== null ? bound.port : settings.port
  // Told once, and maybe before the sockets say so themselves: who closes again must not wait.
  const closed = Promise.withResolvers<void>()
  server.once('close', closed.resolve)
  const close = async (giveUp?: AbortSignal): Promise<void> => {
    const cutOff = () => server.closeAllConnections()
    giveUp?.addEventListener('abort', cutOff, { once: true })
    isClosing = true
    if (server.listening) server.close()
    // Node's own idea of an idle connection leaves out those that have not asked anything yet.
    for (const [socket, open] of connections) if (open === 0) socket.destroySoon()
    if (giveUp?.aborted) cutOff()
    await closed.promise
    giveUp?.removeEventListener('abort', cutOff)
  }
  return {
    address: toAddress(settings.host, port),
    port,
    close,
    [Symbol.asyncDispose]: () => close(AbortSignal.abort()),
  }
}

export function toAddress(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

/** The path of a request target, which proxies may send as a whole URL. */
function toPath(target: string): string {
  const path = target.startsWith('/') ? target : (URL.parse(target)?.pathname ?? target)
  const query = path.indexOf('?')
  return query === -1 ? path : path.slice(0, query)
}

/** A short plain text; browsers are told not to guess that it is something else. */
export function sendText(response: ServerResponse, status: number, text: string): void {
  if (response.headersSent || response.destroyed) return
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'content-length': Buffer.byteLength(text),
  })
  response.end(text)
}

const notFound: HttpHandler = (_request, response) => {
  sendText(response, 404, '404 page not found\n')
}
