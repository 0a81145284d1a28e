import type { Socket } from 'node:net'

/**
 * After so many bytes, the other connections are read first. Without it, a socket that always has more is read
 * up to 32 times in a row, 2 MiB that others wait for.
 */
const TURN_BYTES = 65_536

/** What a turn has to know of its connection. */
export interface TurnConnection {
  readonly socket: Socket
  readonly hub: { readonly connections: { readonly size: number } }
  readonly isClosed: boolean
  readonly isCongested: boolean
}

/** Pauses a connection that has read its share, so that the others have their turn. */
export class ReadTurn {
  readonly #connection: TurnConnection
  /** Read since the other connections last had their turn. */
  #bytes = 0
  isWaiting = false

  constructor(connection: TurnConnection) {
    this.#connection = connection
  }

  count(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes >= TURN_BYTES) this.#letOthersRead()
  }

  #letOthersRead(): void {
    this.#bytes = 0
    const { socket, hub, isClosed, isCongested } = this.#connection
    if (isClosed || isCongested || hub.connections.size < 2) return
    this.isWaiting = true
    socket.pause()
    setImmediate(this.#take)
  }

  readonly #take = (): void => {
    this.isWaiting = false
    if (!this.#connection.isCongested) this.#connection.socket.resume()
  }
}
