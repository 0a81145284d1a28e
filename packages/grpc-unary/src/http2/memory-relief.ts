import type { Socket } from 'node:net'
import type { Limits } from '../limits.ts'
import { type ErrorCode, errorCode } from './frames.ts'

/** A connection and the memory that it uses. */
export interface MeasuredConnection {
  readonly socket: Socket
  readonly isClosed: boolean
  readonly isCongested: boolean
  /** Bytes of incomplete requests. */
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
