import type { Socket } from 'node:net'

/**
 * After this many bytes, the other connections are read first. Otherwise, Node reads a socket that
 * always has more input up to 32 times in a row, and the others wait for 2 MiB.
 */
const TURN_BYTES = 65_536

/** The part of the connection that a turn uses. */
export interface TurnConnection {
  readonly socket: Socket
  readonly hub: { readonly connections: { readonly size: number } }
  readonly isClosed: boolean
  readonly isCongested: boolean
}

/** Pauses a connection that has read its share, so that the others are read too. */
export class ReadTurn {
  readonly #connection: TurnConnection
  /** Bytes read since the other connections were last read. */
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
