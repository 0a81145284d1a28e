import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export interface Connections {
  /** Serves a connection that another process accepted. */
  adopt(socket: Socket): void
  /**
   * Closes idle connections, and each of the others after its response. New connections get a short
   * time for their first request. Resolves when all are closed; when `expired` fires, the remaining
   * ones are destroyed.
   */
  drain(expired: AbortSignal): Promise<void>
  /** Resolves when the responses that are in progress now have ended. */
  settled(): Promise<void>
}

interface Connection {
  readonly responses: Set<ServerResponse>
  hadRequest: boolean
}

/** How long to wait for the first request of a new connection. */
const firstRequestMs = 1_000

/**
 * Tracks the connections of a server, whether it accepted them itself or received them from another
 * process. When Node.js closes a server, it waits for clients that keep their connection open, and
 * ignores connections accepted elsewhere.
 */
export function trackConnections(server: Server, onClosed: () => void = () => {}): Connections {
  const open = new Map<Socket, Connection>()
  const drained = Promise.withResolvers<void>()
  let isDraining = false

  server.on('connection', (socket: Socket) => {
    open.set(socket, { responses: new Set(), hadRequest: false })
    socket.once('close', () => {
      open.delete(socket)
      onClosed()
      if (isDraining && open.size === 0) drained.resolve()
    })
  })
  server.prependListener('request', ({ socket }, response) => {
    const connection = open.get(socket)
    if (connection === undefined) return
    const { responses } = connection
    connection.hadRequest = true
    responses.add(response)
    if (isDraining) response.shouldKeepAlive = false
    response.once('close', () => {
      responses.delete(response)
      if (isDraining && responses.size === 0) socket.destroySoon()
    })
  })
  const closeIdle = (includesNew: boolean): void => {
    for (const [socket, { responses, hadRequest }] of open) {
      if (responses.size === 0 && (hadRequest || includesNew)) socket.destroySoon()
    }
  }

  return {
    async settled() {
      const responses = [...open.values()].flatMap((connection) => [...connection.responses])
      const ends = responses.map(
        (response) => new Promise<void>((resolve) => response.once('close', resolve)),
      )
      await Promise.all(ends)
    },
    adopt(socket) {
      if (isDraining) {
        socket.destroy()
        onClosed()
        return
      }
      socket.setNoDelay(true)
      // A client may half-close its connection and still wait for a response.
      socket.allowHalfOpen = true
      server.emit('connection', socket)
    },
    async drain(expired) {
      isDraining = true
      const destroyAll = () => {
        for (const socket of open.keys()) socket.destroy()
      }
      for (const { responses } of open.values()) {
        for (const response of responses) response.shouldKeepAlive = false
      }
      closeIdle(false)
      // Waits for another turn of the event loop: if this process was busy, a request may have
      // arrived unread.
      const timer = setTimeout(() => setImmediate(closeIdle, true), firstRequestMs)
      if (expired.aborted) destroyAll()
      expired.addEventListener('abort', destroyAll, { once: true })
      if (open.size > 0) await drained.promise
      expired.removeEventListener('abort', destroyAll)
      clearTimeout(timer)
    },
  }
}
