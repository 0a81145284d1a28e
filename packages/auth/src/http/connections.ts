import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export interface Connections {
  /** Serves a connection that another process has accepted. */
  adopt(socket: Socket): void
  /**
   * Closes those that wait for their next request, and each other one after its answer. Those that
   * are new get a moment for their first. Resolves when none is left; when `expired` fires, all are
   * cut off.
   */
  drain(expired: AbortSignal): Promise<void>
}

interface Connection {
  readonly responses: Set<ServerResponse>
  hasAsked: boolean
}

/** How long a client that has connected and said nothing is waited for. */
const firstRequestMs = 1_000

/**
 * Knows the connections of a server, accepted by itself or elsewhere. Node waits for a client that
 * keeps its connection after the last answer, and does not know of those accepted elsewhere.
 */
export function trackConnections(server: Server, onClosed: () => void = () => {}): Connections {
  const open = new Map<Socket, Connection>()
  const drained = Promise.withResolvers<void>()
  let isDraining = false

  server.on('connection', (socket: Socket) => {
    open.set(socket, { responses: new Set(), hasAsked: false })
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
    connection.hasAsked = true
    responses.add(response)
    if (isDraining) response.shouldKeepAlive = false
    response.once('close', () => {
      responses.delete(response)
      if (isDraining && responses.size === 0) socket.destroySoon()
    })
  })
  const closeWaiting = (isNewToo: boolean): void => {
    for (const [socket, { responses, hasAsked }] of open) {
      if (responses.size === 0 && (hasAsked || isNewToo)) socket.destroySoon()
    }
  }

  return {
    adopt(socket) {
      if (isDraining) {
        socket.destroy()
        onClosed()
        return
      }
      socket.setNoDelay(true)
      // A client may say that it has no more requests and still wait for an answer.
      socket.allowHalfOpen = true
      server.emit('connection', socket)
    },
    async drain(expired) {
      isDraining = true
      const cutOff = () => {
        for (const socket of open.keys()) socket.destroy()
      }
      for (const { responses } of open.values()) {
        for (const response of responses) response.shouldKeepAlive = false
      }
      closeWaiting(false)
      // One turn more: where this process was busy itself, a request may be there, unread.
      const timer = setTimeout(() => setImmediate(closeWaiting, true), firstRequestMs)
      if (expired.aborted) cutOff()
      expired.addEventListener('abort', cutOff, { once: true })
      if (open.size > 0) await drained.promise
      expired.removeEventListener('abort', cutOff)
      clearTimeout(timer)
    },
  }
}
