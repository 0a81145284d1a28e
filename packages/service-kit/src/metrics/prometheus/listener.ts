import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createServer } from '../../http.ts'
import type { Log } from '../../log/log.ts'
import { toAddress, toRequestPath } from '../../text/address.ts'
import { toCode, toReason } from '../../text/reason.ts'
import type { Families } from './families.ts'
import { pageType, renderFamilies } from './render.ts'

export interface MetricsListenerSettings {
  readonly host: string
  readonly port: number
  /** The paths of the page. */
  readonly paths: readonly string[]
  /** The names of settings in the error about an address that cannot be used. */
  readonly settings: {
    /** The setting of the port. */
    readonly port: string
    /** All settings of the address: `HOST and PORT`. */
    readonly address: string
  }
  /** Returns the metrics of the page. Called for each request. */
  readonly collect: () => Promise<Families>
  readonly log: Log
}

export interface MetricsListener extends AsyncDisposable {
  /** `host:port`, with the port that was chosen if the configured one is 0. */
  readonly address: string
}

/** The longest time a client may take to send a request. */
const requestMs = 10_000

/** The longest time without progress: a client does not read the response, or sends no further request. */
const idleMs = 60_000

/**
 * Serves a page of metrics for Prometheus on a separate port, which need not be public.
 * @throws {Error} if the address cannot be used; the message names the setting to change.
 */
export async function openMetricsListener(
  settings: MetricsListenerSettings,
): Promise<MetricsListener> {
  const { host, paths } = settings
  const server = createServer({
    headersTimeout: requestMs,
    requestTimeout: requestMs,
    keepAliveTimeout: idleMs,
    connectionsCheckingInterval: 2_000,
  })
  server.timeout = idleMs
  server.on('request', (request, response) => {
    if (!paths.includes(toRequestPath(request.url ?? ''))) {
      sendNotFound(response)
    } else if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.writeHead(405, { allow: 'GET, HEAD' }).end()
    } else {
      void sendPage(response, request.method === 'HEAD', settings)
    }
  })
  // Node's `closeAllConnections` leaves connections without a request open.
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  try {
    server.listen({ host, port: settings.port })
    await once(server, 'listening')
  } catch (error) {
    throw toListenError(settings, error)
  }
  const bound = server.address()
  const port = typeof bound === 'object' && bound !== null ? bound.port : settings.port
  return {
    address: toAddress(host, port),
    async [Symbol.asyncDispose]() {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

async function sendPage(
  response: ServerResponse,
  isHead: boolean,
  { collect, log }: MetricsListenerSettings,
): Promise<void> {
  let families: Families
  try {
    families = await collect()
  } catch (error) {
    log.error(`Metrics could not be collected: ${String(error)}`)
    response.writeHead(503).end()
    return
  }
  response.writeHead(200, { 'content-type': pageType })
  if (isHead) response.end()
  // A client may disconnect before it has read the page, which is not an error.
  else await pipeline(Readable.from(renderFamilies(families)), response).catch(() => undefined)
}

function sendNotFound(response: ServerResponse): void {
  const text = '404 page not found\n'
  response.writeHead(404, {
    'content-type': 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'content-length': text.length,
  })
  response.end(text)
}

function toListenError({ host, port, settings }: MetricsListenerSettings, error: unknown): Error {
  const reason = toReason(error)
  const advice =
    toCode(error) === 'EADDRINUSE'
      ? `stop the program that uses port ${port}, or set ${settings.port} to another port`
      : `check ${settings.address}`
  return new Error(`Metrics cannot be served on ${toAddress(host, port)} (${reason}): ${advice}.`, {
    cause: error,
  })
}
