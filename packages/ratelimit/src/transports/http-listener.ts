import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { createServer } from '@portcullis/service-kit/http'
import { toAddress, toRequestPath } from '@portcullis/service-kit/text/address'

export type HttpHandler = (request: IncomingMessage, response: ServerResponse) => void

export interface HttpServiceSettings {
  /** Handlers by exact path. */
  readonly routes: Readonly<Record<string, HttpHandler>>
  /** The handler for every other path. */
  readonly otherwise?: HttpHandler
  readonly timeouts?: HttpTimeouts
  /** Called with the number of open connections whenever it changes. */
  readonly onConnections?: (count: number) => void
}

export interface HttpListenerSettings extends HttpServiceSettings {
  readonly host: string
  readonly port: number
}

/** Time limits for clients, whose connections are closed afterwards. */
export interface HttpTimeouts {
  /** The time to send the headers of a request. */
  readonly headersMs: number
  /** The time to send a complete request. */
  readonly requestMs: number
  /** The time without any progress, or between requests. */
  readonly idleMs: number
}

/** Handles requests on the connections that are passed to it. */
export interface HttpService extends AsyncDisposable {
  /** Serves a connection that was accepted elsewhere, such as by the parent of this process. */
  adopt(socket: Socket): void
  /**
   * Accepts no new connections; resolves when the existing ones have ended, or when the signal is aborted.
   */
  close(giveUp?: AbortSignal): Promise<void>
}

export interface HttpListener extends HttpService {
  /** The address in log format: `0.0.0.0:8080`. */
  readonly address: string
  readonly port: number
  /** Detaches the connection of a request, which another process will answer. */
  release(request: IncomingMessage): Socket
}

const defaultTimeouts: HttpTimeouts = { headersMs: 10_000, requestMs: 30_000, idleMs: 60_000 }

/** Rejects when the address cannot be listened on. */
export async function openHttpListener(settings: HttpListenerSettings): Promise<HttpListener> {
  const { server, service, connections } = createParts(settings)
  server.listen({ host: settings.host, port: settings.port })
  await once(server, 'listening')
  const bound = server.address()
  const port = typeof bound === 'object' && bound !== null ? bound.port : settings.port
  return {
    ...service,
    address: toAddress(settings.host, port),
    port,
    release({ socket }) {
      connections.delete(socket)
      return socket
    },
  }
}

/** Creates the service without a port. */
export function createHttpService(settings: HttpServiceSettings): HttpService {
  const { server, service } = createParts(settings)
  // Node starts to check for slow clients on this event.
  server.emit('listening')
  return service
}

function createParts(settings: HttpServiceSettings) {
  const { routes, otherwise = notFound, timeouts = defaultTimeouts, onConnections } = settings
  /** Connections with their numbers of open requests. */
  const connections = new Map<Socket, number>()
  const closed = Promise.withResolvers<void>()
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
      const path = toRequestPath(request.url ?? '/')
      const handle = Object.hasOwn(routes, path) ? routes[path] : undefined
      ;(handle ?? otherwise)(request, response)
    },
  )
  server.timeout = timeouts.idleMs
  server.on('connection', (socket) => {
    connections.set(socket, 0)
    onConnections?.(connections.size)
    socket.once('close', () => {
      connections.delete(socket)
      onConnections?.(connections.size)
      if (isClosing && connections.size === 0) closed.resolve()
    })
  })

  const close = async (giveUp?: AbortSignal): Promise<void> => {
    // Node's `closeAllConnections` leaves connections without a request open.
    const cutOff = () => {
      for (const socket of connections.keys()) socket.destroy()
    }
    giveUp?.addEventListener('abort', cutOff, { once: true })
    isClosing = true
    // Also if it does not listen: this ends the check for slow clients.
    server.close()
    for (const [socket, open] of connections) if (open === 0) socket.destroySoon()
    if (giveUp?.aborted) cutOff()
    if (connections.size > 0) await closed.promise
    giveUp?.removeEventListener('abort', cutOff)
  }
  const service: HttpService = {
    adopt(socket) {
      if (isClosing) {
        socket.destroy()
        return
      }
      socket.setNoDelay(true)
      // A client may half-close the connection and still wait for a response.
      socket.allowHalfOpen = true
      server.emit('connection', socket)
    },
    close,
    [Symbol.asyncDispose]: () => close(AbortSignal.abort()),
  }
  return { server, service, connections }
}

/** Sends plain text, with a header that keeps browsers from guessing another type. */
export function sendText(response: ServerResponse, status: number, text: string): void {
  sendBody(response, status, 'text/plain; charset=utf-8', text)
}

export function sendJson(response: ServerResponse, value: unknown): void {
  sendBody(response, 200, 'application/json', `${JSON.stringify(value)}\n`)
}

function sendBody(response: ServerResponse, status: number, type: string, text: string): void {
  if (response.headersSent || response.destroyed) return
  response.writeHead(status, {
    'content-type': type,
    'x-content-type-options': 'nosniff',
    'content-length': Buffer.byteLength(text),
  })
  response.end(text)
}

const notFound: HttpHandler = (_request, response) => {
  sendText(response, 404, '404 page not found\n')
}
