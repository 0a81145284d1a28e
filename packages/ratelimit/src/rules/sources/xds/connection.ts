import { addAbortListener, once } from 'node:events'
import { type ClientHttp2Session, connect as connectHttp2, constants } from 'node:http2'
import { connect as connectNet, type Socket } from 'node:net'
import { connect as connectTls, TLSSocket } from 'node:tls'
import type { ServerAddress } from './parse-settings.ts'
import type { TlsOptions } from './tls.ts'

interface ConnectionSettings {
  readonly address: ServerAddress
  /** Undefined for an unencrypted connection. */
  readonly tls: TlsOptions | undefined
  readonly connectTimeoutMs: number
  readonly keepalive: Keepalive
}

/** When to ping a silent server, and how long to wait for the reply. */
interface Keepalive {
  /** Doubled whenever a server rejects the frequency (gRPC proposal A8). */
  intervalMs: number
  readonly timeoutMs: number
}

/** The interval of TCP keepalive, which the operating systems handle without the server. */
const tcpKeepaliveMs = 30_000

/** Rules arrive in one long message, which small windows would slow down with additional round trips. */
const windowBytes = 1024 * 1024

/** Time for the remaining data to be sent. */
const lingerMs = 500

export interface Connection {
  readonly session: ClientHttp2Session
  close(): void
}

/** @throws Error when the server cannot be reached */
export async function openConnection(
  settings: ConnectionSettings,
  signal: AbortSignal,
): Promise<Connection> {
  const { address, tls, connectTimeoutMs } = settings
  const socket = tls ? connectTls({ ...address, ...tls() }) : connectNet(address)
  await waitForConnection(socket, connectTimeoutMs, signal)
  socket.setNoDelay(true)
  socket.setKeepAlive(true, tcpKeepaliveMs)

  const session = connectHttp2(`${tls ? 'https' : 'http'}://${toAuthority(address)}`, {
    createConnection: () => socket,
    settings: { enablePush: false, initialWindowSize: windowBytes },
  })
  // Streams receive the error themselves; without a listener, it would end the process.
  session.on('error', () => {})
  session.once('connect', () => session.setLocalWindowSize(windowBytes))
  keepAlive(session, settings.keepalive)
  return {
    session,
    close() {
      session.destroy()
      // A closing session waits for the server, which may never close its side.
      setTimeout(() => socket.destroy(), lingerMs).unref()
    },
  }
}

async function waitForConnection(
  socket: Socket,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<void> {
  const timer = setTimeout(() => {
    socket.destroy(new Error(`no connection within ${timeoutMs} ms`))
  }, timeoutMs)
  using _ = addAbortListener(signal, () => socket.destroy(new Error('this side is closing')))
  try {
    await once(socket, socket instanceof TLSSocket ? 'secureConnect' : 'connect')
    if (socket instanceof TLSSocket && socket.alpnProtocol !== 'h2') {
      throw new Error('it does not support HTTP/2 (it did not select h2 in the TLS handshake)')
    }
  } catch (error) {
    // Errors after the socket was abandoned are irrelevant.
    socket.on('error', () => {})
    socket.destroy()
    throw error
  } finally {
    clearTimeout(timer)
  }
}

function toAuthority(address: ServerAddress): string {
  if ('path' in address) return 'localhost'
  const { host, port } = address
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

/** A server that hangs keeps its connections open: only an unanswered ping reveals it. */
function keepAlive(session: ClientHttp2Session, keepalive: Keepalive): void {
  const { intervalMs, timeoutMs } = keepalive
  /** Set while a ping is outstanding. */
  let lost: NodeJS.Timeout | undefined
  const asking = setInterval(() => {
    if (session.destroyed || lost !== undefined) return
    lost = setTimeout(() => {
      session.destroy(new Error(`the server did not answer a ping within ${timeoutMs} ms`))
    }, timeoutMs)
    session.ping(() => {
      clearTimeout(lost)
      lost = undefined
    })
  }, intervalMs)
  session.once('goaway', (code) => {
    if (code === constants.NGHTTP2_ENHANCE_YOUR_CALM) keepalive.intervalMs = intervalMs * 2
  })
  session.once('close', () => {
    clearInterval(asking)
    clearTimeout(lost)
  })
}
