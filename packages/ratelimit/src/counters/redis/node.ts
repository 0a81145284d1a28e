import { Connection, type ConnectionSettings } from './connection.ts'

/**
 * Replies outstanding on a connection above which another one is used: far more than a server leaves
 * open that keeps up.
 */
const busyPending = 2_048

/** One server with up to `poolSize` connections, of which it uses as few as keep up. */
export class Node {
  readonly #settings: ConnectionSettings
  readonly #poolSize: number
  readonly #connections: Connection[]
  #current: Connection

  constructor(settings: ConnectionSettings, poolSize: number) {
    this.#settings = settings
    this.#poolSize = poolSize
    this.#current = new Connection(settings)
    this.#connections = [this.#current]
  }

  start(): void {
    this.#current.start(true)
  }

  /** Where the next commands go. The same for all commands of one write, so their order holds. */
  get connection(): Connection {
    const current = this.#current
    if (current.commands.length > 0) return current
    if (current.isAccepting && current.pending < busyPending) return current
    return this.#choose()
  }

  get isIdle(): boolean {
    return this.#connections.every(({ pending }) => pending === 0)
  }

  get isOpen(): boolean {
    return this.#connections.some(({ isOpen }) => isOpen)
  }

  /** Closes the present connections and makes new ones, to wherever the node is now. */
  relocate(reason: string): void {
    for (const connection of this.#connections) connection.drop(reason)
  }

  close(reason: string): void {
    for (const connection of this.#connections) connection.close(reason)
  }

  #choose(): Connection {
    const open = this.#connections.filter(({ isOpen }) => isOpen)
    const best = open.reduce<Connection | undefined>(
      (best, other) => (best && best.pending <= other.pending ? best : other),
      undefined,
    )
    if (best === undefined) {
      const [first = this.#current] = this.#connections
      this.#current = this.#connections.find(({ isAccepting }) => isAccepting) ?? first
    } else {
      this.#current = best
      const isGrowing = open.length < this.#connections.length
      if (best.pending >= busyPending && !isGrowing) this.#grow()
    }
    return this.#current
  }

  #grow(): void {
    if (this.#connections.length >= this.#poolSize) return
    const further = new Connection(this.#settings)
    this.#connections.push(further)
    // Nobody waits for it: it is used once it stands.
    further.start(false)
  }
}
