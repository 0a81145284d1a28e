import type { Socket } from 'node:net'
import type { Limits } from '../limits.ts'
import type { Drain } from './drain.ts'
import { type ErrorCode, errorCode } from './frames.ts'
import type { Output } from './output.ts'
import type { SendFlow } from './send-flow.ts'

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
