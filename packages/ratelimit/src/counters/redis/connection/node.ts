import { Pool } from '../../network/pool.ts'
import { Connection, type ConnectionSettings } from './connection.ts'

/** One server with up to `poolSize` connections. */
export class Node extends Pool<Connection> {
  constructor(settings: ConnectionSettings, poolSize: number) {
    super(() => new Connection(settings), poolSize)
  }

  /** Replaces all connections with new ones to the current address of the node. */
  relocate(reason: string): void {
    for (const connection of this.connections) connection.drop(reason)
  }
}
