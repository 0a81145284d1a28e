import type { X509Certificate } from 'node:crypto'
import type { Socket } from 'node:net'
import { createServer, type SecureContext, type Server, type TLSSocket } from 'node:tls'

export interface TlsCredentials {
  readonly key: string | Buffer
  readonly cert: string | Buffer
  /** The only authorities whose client certificates are trusted. */
  readonly ca?: string | Buffer
}

export interface TlsOptions extends TlsCredentials {
  /** Clients must show a certificate of `ca`. */
  readonly requestCert?: boolean
  /** Other certificates by the name the client asks for; undefined for the ones above. */
  readonly contextFor?: (serverName: string) => SecureContext | undefined
  /** A look at the client's certificate: returns why it is refused. */
  readonly refusePeer?: (certificate: X509Certificate | undefined) => string | undefined
}

type SniDone = (error: Error | null, context?: SecureContext) => void

/** HTTP/2 over TLS is agreed on by ALPN (RFC 9113 3.2). */
const PROTOCOL = 'h2'

/** Calls `accept` for each connection that passed its handshake. */
export function createTlsServer(
  options: TlsOptions,
  handshakeTimeout: number,
  accept: (socket: Socket) => void,
  report: (error: unknown) => void,
): Server {
  const { contextFor, refusePeer, requestCert = false } = options
  const server = createServer({
    ...toContextOptions(options),
    requestCert,
    rejectUnauthorized: requestCert,
    ALPNProtocols: [PROTOCOL],
    handshakeTimeout,
    noDelay: true,
    ...(contextFor && {
      SNICallback: (name: string, done: SniDone) => done(null, contextFor(name)),
    }),
  })
  server.on('tlsClientError', (_error, socket) => socket.destroy())
  server.on('secureConnection', (socket: TLSSocket) => {
    const refusal =
      socket.alpnProtocol === PROTOCOL
        ? refusePeer?.(socket.getPeerX509Certificate())
        : 'no agreement on h2'
    if (refusal === undefined) {
      accept(socket)
      return
    }
    socket.on('error', () => {})
    socket.destroy()
    report(new Error(`error validating client: ${refusal}`))
  })
  return server
}

export function toContextOptions({ key, cert, ca }: TlsCredentials) {
  return { key, cert, minVersion: 'TLSv1.2' as const, ...(ca !== undefined && { ca }) }
}
