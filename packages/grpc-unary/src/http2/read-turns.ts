/** The part of a connection that the turns use. */
export interface TurnConnection {
  readonly socket: { pause(): unknown; resume(): unknown }
  readonly hub: { readonly connections: { readonly size: number }; readonly turns: ReadTurns }
  readonly isClosed: boolean
  readonly isCongested: boolean
}

/**
 * The share of a connection: one that sends this much within a millisecond, or whose calls take this
 * long to handle, has to wait for its turn. The bytes are those of 80 rate limit calls with 10 descriptors,
 * or of 500 with one, which take about a millisecond; that includes the time after the store has
 * answered, which `TURN_MS` does not.
 *
 * Each turn costs system calls: to pause and resume, to read, to ask a store and to respond. Decision 009
 * has what was measured.
 */
export const TURN_BYTES = 49_152
export const TURN_MS = 0.5

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
  /** What was read in the millisecond that began at `#sinceMs`, and how long that took to handle. */
  #bytes = 0
  #handledMs = 0
  #sinceMs = 0
  isWaiting = false

  constructor(connection: TurnConnection) {
    this.#connection = connection
  }

  /** Counts a read that has just been handled. */
  count(bytes: number, readAtMs: number): void {
    if (readAtMs - this.#sinceMs >= 1) this.#begin(readAtMs)
    this.#bytes += bytes
    this.#handledMs += performance.now() - readAtMs
    if (this.#bytes >= TURN_BYTES || this.#handledMs >= TURN_MS) this.#wait()
  }

  take(): void {
    this.isWaiting = false
    if (!this.#connection.isCongested) this.#connection.socket.resume()
  }

  #begin(nowMs: number): void {
    this.#sinceMs = nowMs
    this.#bytes = 0
    this.#handledMs = 0
  }

  #wait(): void {
    this.#begin(this.#sinceMs)
    const { socket, hub, isClosed, isCongested } = this.#connection
    if (this.isWaiting || isClosed || isCongested || hub.connections.size < 2) return
    this.isWaiting = true
    socket.pause()
    hub.turns.add(this)
  }
}
