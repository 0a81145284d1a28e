/** The part of a connection that the turns use. */
export interface TurnConnection {
  readonly socket: { pause(): unknown; resume(): unknown }
  readonly hub: { readonly connections: { readonly size: number }; readonly turns: ReadTurns }
  readonly isClosed: boolean
  readonly isCongested: boolean
}

/**
 * A connection that sends this much within a millisecond has to wait for its turn. It is the size of
 * about 200 calls, which take about a millisecond to handle.
 */
export const TURN_BYTES = 16_384

/**
 * A queue of the connections that have sent more than their share. In each iteration of the event loop,
 * the server reads all connections that are not in the queue, and one that is. A client with few calls
 * therefore waits for one share at most, however many connections flood the server.
 */
export class ReadTurns {
  readonly #waiting: ReadTurn[] = []

  add(turn: ReadTurn): void {
    if (this.#waiting.push(turn) === 1) setImmediate(this.#next)
  }

  readonly #next = (): void => {
    this.#waiting.shift()?.take()
    if (this.#waiting.length > 0) setImmediate(this.#next)
  }
}

/** Pauses a connection that has read its share until its next turn. */
export class ReadTurn {
  readonly #connection: TurnConnection
  /** Bytes that were read in the millisecond that began at `#sinceMs`. */
  #bytes = 0
  #sinceMs = 0
  isWaiting = false

  constructor(connection: TurnConnection) {
    this.#connection = connection
  }

  count(bytes: number, nowMs: number): void {
    if (nowMs - this.#sinceMs >= 1) {
      this.#sinceMs = nowMs
      this.#bytes = 0
    }
    this.#bytes += bytes
    if (this.#bytes >= TURN_BYTES) this.#wait()
  }

  take(): void {
    this.isWaiting = false
    if (!this.#connection.isCongested) this.#connection.socket.resume()
  }

  #wait(): void {
    this.#bytes = 0
    const { socket, hub, isClosed, isCongested } = this.#connection
    if (this.isWaiting || isClosed || isCongested || hub.connections.size < 2) return
    this.isWaiting = true
    socket.pause()
    hub.turns.add(this)
  }
}
