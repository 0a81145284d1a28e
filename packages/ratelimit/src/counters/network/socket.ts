import { connect, isIP, type Socket } from 'node:net'
import { connect as tlsConnect } from 'node:tls'
import { toReason } from '@portcullis/service-kit/text/reason'
import type { ClientTls } from './client-tls.ts'

/** The address that a server listens on. */
export type Endpoint = TcpEndpoint | UnixEndpoint

export interface TcpEndpoint {
  readonly host: string
  readonly port: number
}

export interface UnixEndpoint {
  readonly path: string
}

export interface SocketSettings {
  readonly endpoint: Endpoint
  readonly tls: ClientTls | undefined
  /** Whether the process may exit while the socket is open, which libraries must allow. */
  readonly isBackground?: boolean | undefined
  readonly onConnect: () => void
  /** The buffer is reused for the next chunk. Returns whether reading continues. */
  readonly onRead: (bytes: Buffer, length: number) => boolean
  /** May be called more than once. */
  readonly onEnd: (reason: string) => void
}

const keepAliveMs = 10_000
const readBufferBytes = 65_536

export function openSocket(settings: SocketSettings): Socket {
  const { endpoint, tls, isBackground = false, onConnect, onRead, onEnd } = settings
  const buffer = Buffer.allocUnsafeSlow(readBufferBytes)
  const onread = { buffer, callback: (bytesRead: number) => onRead(buffer, bytesRead) }
  const target = { ...endpoint, noDelay: true, onread }
  const socket = tls
    ? tlsConnect({
        ...target,
        secureContext: tls.context,
        ...('host' in endpoint && isIP(endpoint.host) === 0 ? { servername: endpoint.host } : {}),
        ...(tls.skipHostnameVerification ? { checkServerIdentity: () => undefined } : {}),
      })
    : connect({ ...target, keepAlive: true, keepAliveInitialDelay: keepAliveMs })
  if (isBackground) socket.unref()
  socket.once(tls ? 'secureConnect' : 'connect', () => {
    if (tls && 'host' in endpoint) socket.setKeepAlive(true, keepAliveMs)
    onConnect()
  })
  socket.on('error', (error) => onEnd(toReason(error)))
  socket.on('end', () => onEnd('closed the connection'))
  socket.on('close', () => onEnd('closed the connection'))
  return socket
}
