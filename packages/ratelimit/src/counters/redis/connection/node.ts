import { Pool } from '../../network/pool.ts'
import { Connection, type ConnectionSettings } from './connection.ts'

/**
 * More than the replies that a thousand concurrent calls with 10 descriptors wait for. A single Redis gains nothing from
 * several connections, and commands that are spread over them are sent in smaller writes: with 2,048, 512 concurrent
 * calls with 10 descriptors took 1.12 times the CPU time (decision 007).
 */
const busyPending = 16_384

/** One server with up to `poolSize` connections. */
export class Node extends Pool<Connection> {
  constructor(settings: ConnectionSettings, poolSize: number) {
    super(() => new Connection(settings), { size: poolSize, busyPending })
  }

  /** Replaces all connections with new ones to the current address of the node. */
  relocate(reason: string): void {
    for (const connection of this.connections) connection.drop(reason)
  }
}
