import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export type HttpHandler = (request: IncomingMessage, response: ServerResponse) => void

export interface HttpServiceSettings {
  /** By exact path. */
  readonly routes: Readonly<Record<string, HttpHandler>>
  /** For every other path. */
  readonly otherwise?: HttpHandler
  readonly timeouts?: HttpTimeouts
  /** Told how many connections are open, whenever that changes. */
  readonly onConnections?: (count: number) => void
}

export interface HttpListenerSettings extends HttpServiceSettings {
  readonly host: string
  readonly port: number
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

/** Answers requests on the connections that it is given. */
export interface HttpService extends AsyncDisposable {
  /** Serves a connection that was accepted elsewhere, such as by the parent of this process. */
  adopt(socket: Socket): void
  /** Takes no new connections and resolves once those there are have ended, or when told to. */
  close(giveUp?: AbortSignal): Promise<void>
}

export interface HttpListener extends HttpService {
  /** As it is written in the log: `0.0.0.0:8080`. */
  readonly address: string
  readonly port: number
  /** Lets go of the connection that a request came on: somebody else answers. */
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

/** Without a port of its own. */
export function createHttpService(settings: HttpServiceSettings): HttpService {
  const { server, service } = createParts(settings)
  // Node begins to look for clients that are too slow when it hears this.
  server.emit('listening')
  return service
}

function createParts(settings: HttpServiceSettings) {
  const { routes, otherwise = notFound, timeouts = defaultTimeouts, onConnections } = settings
  /** With the number of requests that each has open. */
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
      const path = toPath(request.url ?? '/')
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
    // Node's own way to cut all off leaves out connections that have not asked anything yet.
    const cutOff = () => {
      for (const socket of connections.keys()) socket.destroy()
    }
    giveUp?.addEventListener('abort', cutOff, { once: true })
    isClosing = true
    // Whoever does not listen is closed all the same: it looks at its connections no longer.
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
      // A client may say that it has no more requests and still wait for an answer.
      socket.allowHalfOpen = true
      server.emit('connection', socket)
    },
    close,
    [Symbol.asyncDispose]: () => close(AbortSignal.abort()),
  }
  return { server, service, connections }
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
