import { addAbortListener, once } from 'node:events'
import { type ClientHttp2Session, connect as connectHttp2, constants } from 'node:http2'
import { connect as connectNet, type Socket } from 'node:net'
import { connect as connectTls, TLSSocket } from 'node:tls'
import type { TlsOptions } from './tls.ts'

interface ConnectionSettings {
  readonly address: ServerAddress
  /** Undefined: not encrypted. */
  readonly tls: TlsOptions | undefined
  readonly connectTimeoutMs: number
  readonly keepalive: Keepalive
}

/** When to ask a silent server for a sign of life, and how long to wait for it. */
interface Keepalive {
  /** Doubled whenever a server finds it too often (gRPC proposal A8). */
  intervalMs: number
  readonly timeoutMs: number
}

/** For as long as nothing was heard, the system asks the other system: that costs no server. */
const tcpKeepaliveMs = 30_000

/** Rules come in one long message, which small windows would slow down with every round trip. */
const windowBytes = 1024 * 1024

/** For what is still to be sent. */
const lingerMs = 500

export interface Connection {
  readonly session: ClientHttp2Session
  close(): void
}

/** @throws {Error} when the server cannot be reached. */
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
  // Streams hear of it by themselves; without a listener it would be fatal.
  session.on('error', () => {})
  session.once('connect', () => session.setLocalWindowSize(windowBytes))
  keepAlive(session, settings.keepalive)
  return {
    session,
    close() {
      session.destroy()
      // A session that was closing already waits for the other side, which may never do its part.
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
      throw new Error('it does not speak HTTP/2 (it did not choose h2 in the TLS handshake)')
    }
  } catch (error) {
    // What else the socket has to say after it was given up is nobody's business.
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

/** A server that hangs keeps its connections: only the missing answer to a ping tells. */
function keepAlive(session: ClientHttp2Session, keepalive: Keepalive): void {
  const { intervalMs, timeoutMs } = keepalive
  /** Runs while a ping is not answered. */
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

/** Where the management server listens. */
type ServerAddress = { readonly path: string } | { readonly host: string; readonly port: number }

/** Addresses of gRPC may say how the name is resolved; all these are resolved as usual. */
const scheme = /^(?:dns|passthrough|ipv4|ipv6):(?:\/\/\/)?/

const unixPath = /^unix:(?:\/\/)?(?<path>.+)$/

const hostAndPort = /^(?:\[(?<bracketed>[^\]]+)\]|(?<plain>[^:/[\]]+)):(?<port>\d{1,5})$/

/** @throws {Error} with what to write instead. */
export function parseServerAddress(url: string): ServerAddress {
  const path = unixPath.exec(url)?.groups?.path
  if (path !== undefined) return { path }
  const { bracketed, plain, port } = hostAndPort.exec(url.replace(scheme, ''))?.groups ?? {}
  const host = bracketed ?? plain
  if (host === undefined || Number(port) > 65_535) {
    throw new Error(
      `CONFIG_GRPC_XDS_SERVER_URL: "${url}" is no address of a management server; ` +
        'write host:port, [IPv6 address]:port or unix:path',
    )
  }
  return { host, port: Number(port) }
}
