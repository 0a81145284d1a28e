import type { RequestListener, Server } from 'node:http'

export interface RequestSwitch {
  /** Passes all further requests to another handler. */
  switchTo(handler: RequestListener): void
}

/**
 * Lets another handler take over the requests of a running server.
 * @param server a server whose handler is the last of its `request` listeners.
 */
export function openRequestSwitch(server: Server): RequestSwitch {
  const first = server.listeners('request').at(-1)
  if (first === undefined) throw new Error('The server has no request handler')
  let current = first as RequestListener
  server.off('request', current)
  server.on('request', (request, response) => current(request, response))
  return {
    switchTo(handler) {
      current = handler
    },
  }
}
