import type { Socket } from 'node:net'
import type { Limits } from '../limits.ts'
import type { Drain } from './drain.ts'
import type { SendFlow } from './flow-control.ts'
import { type ErrorCode, errorCode } from './frames.ts'
import type { Output } from './output.ts'

export interface ConnectionAge {
  /** Infinity for no limit. */
  readonly maxMs: number
  /** From the start of the drain until the connection is closed. */
  readonly graceMs: number
}

/** A connection with the times at which its current states began. */
export interface WatchedConnection {
  readonly hub: { readonly limits: Limits; readonly age: ConnectionAge }
  readonly socket: Socket
  readonly output: Output
  readonly sendFlow: SendFlow
  readonly drain: Drain
  readonly isClosed: boolean
  readonly isEstablished: boolean
  readonly isCongested: boolean
  readonly openedMs: number
  readonly maxAgeMs: number
  readonly lastReadMs: number
  readonly congestedSinceMs: number
  readonly closedSinceMs: number
  readonly frameSinceMs: number
  readonly blockSinceMs: number
  close(code: ErrorCode, reason: string): void
}

/** How long a peer may take to read our GOAWAY and close the connection. */
const LINGER_MS = 1000

/** How long a client may take to acknowledge the GOAWAY; the same as in grpc-go. */
const DRAIN_PING_MS = 5000

/** Checks every timeout of a connection. Called at least once a second. */
export function inspect(connection: WatchedConnection, nowMs: number): void {
  const { limits, age } = connection.hub
  const { drain } = connection

  if (connection.isClosed) {
    if (nowMs - connection.closedSinceMs >= LINGER_MS) connection.socket.destroy()
    return
  }
  connection.output.trim()

  if (!connection.isEstablished) {
    if (nowMs - connection.openedMs >= limits.prefaceTimeoutMs) connection.socket.destroy()
    return
  }
  if (connection.isCongested) {
    if (nowMs - connection.congestedSinceMs >= limits.unsentTimeoutMs) connection.socket.destroy()
    return
  }
  const unfinishedSinceMs = Math.min(connection.frameSinceMs, connection.blockSinceMs)
  if (nowMs - unfinishedSinceMs >= limits.frameTimeoutMs) {
    connection.close(errorCode.ENHANCE_YOUR_CALM, 'over the limit frameTimeoutMs')
    return
  }
  if (nowMs - connection.sendFlow.stalledSinceMs >= limits.heldBackTimeoutMs) {
    connection.close(errorCode.ENHANCE_YOUR_CALM, 'over the limit heldBackTimeoutMs')
    return
  }

  if (connection.lastReadMs >= drain.keepaliveSentMs)
    drain.keepaliveSentMs = Number.POSITIVE_INFINITY
  if (nowMs - drain.keepaliveSentMs >= limits.keepaliveTimeoutMs) {
    connection.socket.destroy()
    return
  }
  const isSilent = nowMs - connection.lastReadMs >= limits.keepaliveMs
  if (isSilent && drain.keepaliveSentMs === Number.POSITIVE_INFINITY) drain.sendKeepalive(nowMs)

  if (nowMs - connection.openedMs >= connection.maxAgeMs) drain.begin()
  if (nowMs - drain.sinceMs >= DRAIN_PING_MS) drain.finishIfOverdue()
  if (nowMs - drain.sinceMs >= age.graceMs) connection.socket.destroy()
}

/** A connection and the memory that it uses. */
export interface MeasuredConnection {
  readonly socket: Socket
  readonly isClosed: boolean
  readonly isCongested: boolean
  /** Bytes of incomplete requests and open streams. */
  readonly bufferedBytes: number
  /** Bytes of responses that the peer has not read. */
  readonly unsentBytes: number
  close(code: ErrorCode, reason: string): void
}

/**
 * Connections are closed until this fraction of the limit is in use, so that the next bytes do not
 * exceed it again immediately.
 */
const RELIEVED = 0.75

/**
 * Closes the connections that use most of the shared memory, until there is room again. Refusing
 * new requests instead would let a few idle attackers block all clients.
 */
export function relieve(connections: Iterable<MeasuredConnection>, limits: Limits): void {
  const open = [...connections].filter(({ isClosed }) => !isClosed)
  closeLargest(open, 'totalBufferedRequestBytes', limits, ({ bufferedBytes }) => bufferedBytes)
  closeLargest(open, 'totalUnsentBytes', limits, ({ unsentBytes }) => unsentBytes)
}

function closeLargest(
  connections: readonly MeasuredConnection[],
  limit: 'totalBufferedRequestBytes' | 'totalUnsentBytes',
  limits: Limits,
  sizeOf: (connection: MeasuredConnection) => number,
): void {
  let total = 0
  for (const connection of connections) total += sizeOf(connection)
  if (total <= limits[limit]) return
  const largest = connections.filter((each) => sizeOf(each) > 0)
  largest.sort((one, other) => sizeOf(other) - sizeOf(one))
  for (const connection of largest) {
    if (total <= RELIEVED * limits[limit]) return
    total -= sizeOf(connection)
    // A peer that does not read cannot receive a reason, so its output is freed immediately.
    const { isCongested } = connection
    connection.close(errorCode.ENHANCE_YOUR_CALM, `over the limit ${limit}`)
    if (isCongested) connection.socket.destroy()
  }
}
