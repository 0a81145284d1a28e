import type { Socket } from 'node:net'
import type { Limits } from '../limits.ts'
import { type ErrorCode, errorCode } from './frames.ts'

/** A connection and the memory that it takes. */
export interface MeasuredConnection {
  readonly socket: Socket
  readonly isClosed: boolean
  readonly isCongested: boolean
  /** Bytes of requests that are not whole yet. */
  readonly bufferedBytes: number
  /** Bytes of answers that the peer has not taken. */
  readonly unsentBytes: number
  close(code: ErrorCode, reason: string): void
}

/** So much of a limit is left in use, so that the next bytes do not make all this work again. */
const RELIEVED = 0.75

/**
 * Closes the connections that hold most of the memory which all share, until there is room again. To
 * refuse those that come next instead would let a few idle attackers keep everybody out.
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
    // A peer that does not read gets no reason either, and what was written for it is freed at once.
    const { isCongested } = connection
    connection.close(errorCode.ENHANCE_YOUR_CALM, `over the limit ${limit}`)
    if (isCongested) connection.socket.destroy()
  }
}
