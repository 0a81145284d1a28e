import { isIPv6 } from 'node:net'
import Fastify from 'fastify'
import { guardAccess } from './access.ts'
import { serveAssets } from './assets.ts'
import { addErrorAnswers, answerBadAddress } from './errors.ts'
import { trackEventStreams } from './event-stream.ts'
import { loadRoutes } from './routes/index.ts'
import { addSecurityHeaders } from './security-headers.ts'
import type { ConsoleSettings } from './settings.ts'

export interface RunningConsole extends AsyncDisposable {
  readonly url: string
  /** The URL with the token, for the first visit. */
  readonly entryUrl: string
}

/** Starts the console: the page and its API, for clients that have the token. */
export async function openConsole(settings: ConsoleSettings): Promise<RunningConsole> {
  const server = Fastify({
    forceCloseConnections: true,
    bodyLimit: 2 * 1024 * 1024,
    frameworkErrors: answerBadAddress,
  })
  const streams = trackEventStreams()
  addSecurityHeaders(server)
  guardAccess(server, {
    token: settings.token,
    allowedHosts: [settings.host, ...(settings.allowedHosts ?? [])],
  })
  addErrorAnswers(server)
  for (const addRoutes of await loadRoutes()) addRoutes(server, { ...settings, streams })
  await serveAssets(server)
  const address = await server.listen({ host: settings.host, port: settings.port })
  const url = toUrl(settings.host, new URL(address).port)
  return {
    url,
    entryUrl: `${url}/?token=${settings.token}`,
    async [Symbol.asyncDispose]() {
      streams.close()
      await server.close()
    },
  }
}

/** Returns the URL at which a browser on this machine reaches the console. */
function toUrl(host: string, port: string): string {
  const isLocal = ['localhost', '127.0.0.1', '0.0.0.0', '::'].includes(host)
  const name = isLocal ? 'localhost' : isIPv6(host) ? `[${host}]` : host
  return `http://${name}:${port}`
}
