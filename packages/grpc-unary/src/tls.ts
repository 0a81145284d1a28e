import type { X509Certificate } from 'node:crypto'
import { Socket } from 'node:net'
import { createServer, type SecureContext, type Server, type TLSSocket } from 'node:tls'

/** A key with its certificate, in PEM format. */
export interface TlsCredentials {
  /** The private key. */
  readonly key: string | Buffer
  /** The certificate, followed by its intermediates. */
  readonly cert: string | Buffer
  /** The certificate authorities that client certificates must come from. Default: those of Node. */
  readonly ca?: string | Buffer
}

/** The TLS options of a server. */
export interface TlsOptions extends TlsCredentials {
  /** Requires a client certificate signed by `ca`. Default: false. */
  readonly requestCert?: boolean
  /** Returns other certificates for a server name (SNI); undefined selects the default ones. */
  readonly contextFor?: (serverName: string) => SecureContext | undefined
  /** Checks the client's certificate; returns the reason for refusing it, or undefined. */
  readonly refusePeer?: (certificate: X509Certificate | undefined) => string | undefined
}

type SniDone = (error: Error | null, context?: SecureContext) => void

/** HTTP/2 over TLS is negotiated by ALPN (RFC 9113 3.2). */
const PROTOCOL = 'h2'

/** Calls `accept` for each connection that completed its handshake. */
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
    const address = toRemoteAddress(socket)
    const from = address === undefined ? '' : ` (from ${address})`
    socket.on('error', () => {})
    socket.destroy()
    report(new Error(`error validating client: ${reason}${from}`))
  }
  // Node caches the address on first access: see `toRemoteAddress`.
  server.on('connection', (socket: Socket) => void socket.remoteAddress)
  server.on('tlsClientError', (error, socket) => {
    const reason = toRefusal(error, socket)
    if (reason === undefined) socket.destroy()
    else refuse(socket, reason)
  })
  server.on('secureConnection', (socket: TLSSocket) => {
    const refusal =
      socket.alpnProtocol === PROTOCOL
        ? refusePeer?.(socket.getPeerX509Certificate())
        : 'it did not negotiate h2 by ALPN'
    if (refusal === undefined) accept(socket)
    else refuse(socket, refusal)
  })
  return server
}

const refusals: Readonly<Record<string, string>> = {
  ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE: 'it presented no certificate',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  INVALID_PURPOSE: 'its certificate is not for client authentication',
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: 'it does not trust the authority of the server certificate',
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN: 'it does not accept the server certificate',
  'ERR_SSL_SSL/TLS_ALERT_CERTIFICATE_UNKNOWN': 'it does not accept the server certificate',
  ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE: 'it does not accept the server certificate',
  'ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE': 'it does not accept the server certificate',
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED: 'it considers the server certificate expired',
  ERR_SSL_HTTP_REQUEST: 'it speaks HTTP without TLS',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'it does not speak TLS',
  ERR_SSL_UNSUPPORTED_PROTOCOL: 'it does not offer TLS 1.2 or later',
  ERR_SSL_NO_SHARED_CIPHER: 'it offers no cipher that this server supports',
  ERR_SSL_NO_APPLICATION_PROTOCOL: 'it does not offer h2',
}

/** Failures that are not reported: the client disconnected, or took too long. */
const UNREPORTED: ReadonlySet<string> = new Set([
  'ECONNRESET',
  'EPIPE',
  'ERR_TLS_HANDSHAKE_TIMEOUT',
  'ERR_STREAM_PREMATURE_CLOSE',
])

/** Why the handshake with a client failed; undefined if the client only disconnected. */
function toRefusal(error: Error, socket: TLSSocket): string | undefined {
  // Node's types say Error, but it is the OpenSSL error code.
  const untrusted: unknown = socket.authorizationError
  if (untrusted) {
    return refusals[String(untrusted)] ?? `its certificate is not trusted (${untrusted})`
  }
  const code = 'code' in error ? String(error.code) : ''
  return UNREPORTED.has(code) ? undefined : (refusals[code] ?? `the TLS handshake failed (${code})`)
}

/**
 * A destroyed socket no longer has its remote address, but the undocumented socket below it still
 * has one that was read before.
 */
function toRemoteAddress(socket: TLSSocket & { readonly _parent?: unknown }): string | undefined {
  if (socket.remoteAddress !== undefined) return socket.remoteAddress
  const parent = socket._parent
  return parent instanceof Socket ? parent.remoteAddress : undefined
}

export function toContextOptions({ key, cert, ca }: TlsCredentials) {
  return { key, cert, minVersion: 'TLSv1.2' as const, ...(ca !== undefined && { ca }) }
}
