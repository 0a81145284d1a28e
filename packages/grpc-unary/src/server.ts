import { createServer, type Server, type Socket } from 'node:net'
import { Server as TlsServer } from 'node:tls'
import { AddressCounts } from './address-counts.ts'
import { Router } from './grpc/router.ts'
import { Connection } from './http2/connection.ts'
import { Hub } from './http2/hub.ts'
import { readInPlace } from './in-place-reads.ts'
import { defaultLimits, type Limits } from './limits.ts'
import { type Address, type BoundAddress, bind } from './listener.ts'
import type { Methods } from './method.ts'
import { createTlsServer, type TlsCredentials, type TlsOptions, toContextOptions } from './tls.ts'

/** Options of {@link createGrpcServer}. */
export interface GrpcServerOptions {
  /** The methods that the server implements; calls of other methods get UNIMPLEMENTED. */
  readonly methods: Methods
  /** Certificates. Default: plaintext HTTP/2 with prior knowledge. */
  readonly tls?: TlsOptions
  /** Limits that differ from {@link defaultLimits}. */
  readonly limits?: Partial<Limits>
  /**
   * A connection is drained when it reaches this age in milliseconds, varied by up to a tenth.
   * Default: never.
   */
  readonly maxConnectionAgeMs?: number
  /** Milliseconds from the start of that drain until the connection is closed. Default: never. */
  readonly maxConnectionAgeGraceMs?: number
  /**
   * Called with the errors that handlers throw or reject with, and with the reasons for failed TLS
   * handshakes. Default: these errors are dropped.
   */
  readonly report?: (error: unknown) => void
  /**
   * Called with the number of connections, except draining ones, whenever it changes. A process
   * that distributes connections to workers uses it.
   */
  readonly onConnections?: (count: number) => void
  /**
   * Called with an address and the number of its connections whenever that number changes, if
   * `limits.connectionsPerAddress` is set. A process that accepts connections for several servers adds
   * them up.
   */
  readonly onAddress?: (address: string, count: number) => void
}

/** A server created by {@link createGrpcServer}. */
export interface GrpcServer extends AsyncDisposable {
  /**
   * Starts to accept connections; resolves with the address, which contains the chosen port if it
   * was 0.
   */
  listen(address: Address): Promise<BoundAddress>
  /**
   * Serves a connection that was accepted elsewhere, for example by the parent process. The server
   * takes over the socket, so the previous owner sees it as closed.
   */
  adopt(socket: Socket): void
  /** Stops accepting, sends GOAWAY to all clients, and resolves when the last call is answered. */
  drain(): Promise<void>
  /** Drains, and closes the remaining connections after `graceMs` milliseconds (default: 0). */
  close(options?: { readonly graceMs?: number }): Promise<void>
  /** An alias of `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>
  /**
   * Uses new certificates for new connections.
   * @throws Error when key and certificate do not match.
   * @throws TypeError when the server was created without `tls`.
   */
  renewTls(credentials: TlsCredentials): void
  /** Number of open connections. */
  readonly connections: number
}

/** Creates a gRPC server for unary methods and short streams. It listens once `listen` is called. */
export function createGrpcServer(options: GrpcServerOptions): GrpcServer {
  const limits: Limits = { ...defaultLimits, ...options.limits }
  // Called in a microtask, so that an exception in `report` cannot interrupt the current read.
  const report = (error: unknown): void => queueMicrotask(() => options.report?.(error))
  const hub = new Hub(limits, new Router(options.methods, report), {
    maxMs: options.maxConnectionAgeMs ?? Number.POSITIVE_INFINITY,
    graceMs: options.maxConnectionAgeGraceMs ?? Number.POSITIVE_INFINITY,
  })
  if (options.onConnections) hub.onChange = () => reportConnections()
  let isDraining = false
  const addresses = new AddressCounts(limits.connectionsPerAddress, options.onAddress)

  const accept = (socket: Socket): void => {
    // Connections with TLS are counted before their handshake.
    const address = options.tls ? undefined : socket.remoteAddress
    if (isDraining || hub.connections.size >= limits.connections || !addresses.add(address)) {
      socket.on('error', ignore)
      socket.destroy()
      return
    }
    serve(hub, socket, () => addresses.remove(address))
  }
  const listener: Server = options.tls
    ? createTlsServer(options.tls, limits.prefaceTimeoutMs, accept, report)
    : createServer({ noDelay: true }, accept)
  // The hub does not know connections with TLS until their handshake is complete.
  const sockets = new Set<Socket>()
  // Connections with TLS are counted from the start, since many may be in their handshake.
  const reportConnections = (): void => {
    const { size } = options.tls ? sockets : hub.connections
    options.onConnections?.(Math.max(0, size - hub.drainingCount))
  }
  listener.on('connection', (socket: Socket) => {
    const address = options.tls ? socket.remoteAddress : undefined
    if (!addresses.add(address)) {
      socket.destroy()
      return
    }
    sockets.add(socket)
    socket.once('close', () => {
      sockets.delete(socket)
      addresses.remove(address)
      reportConnections()
    })
    reportConnections()
  })
  const destroySockets = (): void => {
    for (const { socket } of hub.connections) socket.destroy()
    for (const socket of sockets) socket.destroy()
  }

  const drain = async (): Promise<void> => {
    isDraining = true
    // Stops listening and removes a unix socket; existing connections continue.
    if (listener.listening) listener.close()
    for (const connection of hub.connections) connection.drain.begin()
    await hub.empty()
  }

  const close = async ({ graceMs = 0 } = {}): Promise<void> => {
    const drained = drain()
    const timer = setTimeout(destroySockets, graceMs)
    await drained
    clearTimeout(timer)
    destroySockets()
  }

  return {
    async listen(address) {
      const bound = await bind(listener, address)
      listener.on('error', report)
      return bound
    },

    adopt(socket) {
      socket.setNoDelay(true)
      listener.emit('connection', socket)
    },

    drain,

    close,
    [Symbol.asyncDispose]: () => close(),

    renewTls(credentials) {
      if (!(listener instanceof TlsServer))
        throw new TypeError('renewTls needs a server that was created with `tls`')
      listener.setSecureContext(toContextOptions(credentials))
    },

    get connections() {
      return hub.connections.size
    },
  }
}

/** @param onClose called before the hub removes the closed connection. */
function serve(hub: Hub, accepted: Socket, onClose: () => void): void {
  const inPlace = readInPlace(accepted, (bytes, length) => connection.read(bytes, length))
  const socket = inPlace ?? accepted
  const connection = new Connection(hub, socket)
  hub.add(connection)
  if (!inPlace) socket.on('data', (chunk: Buffer) => connection.read(chunk))
  socket.on('drain', () => connection.drained())
  socket.on('close', () => {
    onClose()
    connection.lost()
  })
  // The event 'close' follows, and handles the end of the connection.
  socket.on('error', ignore)
  // A socket that was handed over may be paused.
  socket.resume()
}

function ignore(): void {}
