import type { Limits } from '../limits.ts'
import type { Connection } from './connection.ts'
import { errorCode } from './frames.ts'

/** So much of a limit is left in use, so that the next bytes do not make all this work again. */
const RELIEVED = 0.75

/**
 * Closes the connections that hold most of the memory which all share, until there is room again. To
 * refuse those that come next instead would let a few idle attackers keep everybody out.
 */
export function relieve(connections: Iterable<Connection>, limits: Limits): void {
  const open = [...connections].filter(({ isClosed }) => !isClosed)
  closeLargest(open, 'totalBufferedRequestBytes', limits, ({ bufferedBytes }) => bufferedBytes)
  closeLargest(open, 'totalUnsentBytes', limits, ({ unsentBytes }) => unsentBytes)
}

function closeLargest(
  connections: readonly Connection[],
  limit: 'totalBufferedRequestBytes' | 'totalUnsentBytes',
  limits: Limits,
  sizeOf: (connection: Connection) => number,
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
