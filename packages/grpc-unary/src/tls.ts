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
  const refuse = (socket: TLSSocket, reason: string): void => {
    const from = socket.remoteAddress === undefined ? '' : ` (from ${socket.remoteAddress})`
    socket.on('error', () => {})
    socket.destroy()
    report(new Error(`error validating client: ${reason}${from}`))
  }
  server.on('tlsClientError', (error, socket) => {
    const reason = requestCert ? toRefusal(error, socket) : undefined
    if (reason === undefined) socket.destroy()
    else refuse(socket, reason)
  })
  server.on('secureConnection', (socket: TLSSocket) => {
    const refusal =
      socket.alpnProtocol === PROTOCOL
        ? refusePeer?.(socket.getPeerX509Certificate())
        : 'no agreement on h2'
    if (refusal === undefined) accept(socket)
    else refuse(socket, refusal)
  })
  return server
}

const refusals: Readonly<Record<string, string>> = {
  ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE: 'it showed no certificate',
  CERT_HAS_EXPIRED: 'its certificate is over',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  INVALID_PURPOSE: 'its certificate is not for client authentication',
}

/** What was wrong with the certificate of a client; undefined where something else was. */
function toRefusal(error: Error, socket: TLSSocket): string | undefined {
  // Node's types say Error; it is the code that OpenSSL has for the reason.
  const untrusted: unknown = socket.authorizationError
  if (untrusted) {
    return refusals[String(untrusted)] ?? `its certificate is not trusted (${untrusted})`
  }
  return 'code' in error ? refusals[String(error.code)] : undefined
}

export function toContextOptions({ key, cert, ca }: TlsCredentials) {
  return { key, cert, minVersion: 'TLSv1.2' as const, ...(ca !== undefined && { ca }) }
}
