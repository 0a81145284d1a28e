/** One of several connections to the same server. */
export interface PooledConnection {
  /** The number of outstanding replies. */
  readonly pending: number
  /** Whether commands of this turn of the event loop were collected but not sent yet. */
  readonly isCollecting: boolean
  readonly isOpen: boolean
  /** Whether commands are accepted: they are sent, or wait for a connection attempt in progress. */
  readonly isAccepting: boolean
  /** @param isAwaited - whether commands may wait for the first attempt */
  start(isAwaited: boolean): void
  close(reason: string): void
}

export interface PoolSettings {
  /** The maximum number of connections. */
  readonly size: number
  /**
   * The number of outstanding replies above which another connection is used: far more than there are with
   * a server that keeps up.
   */
  readonly busyPending: number
}

/** Up to `size` connections to one server. As few are used as can keep up. */
export class Pool<Connection extends PooledConnection> {
  readonly #open: () => Connection
  readonly #size: number
  readonly #busyPending: number
  readonly #connections: Connection[]
  #current: Connection

  constructor(open: () => Connection, { size, busyPending }: PoolSettings) {
    this.#open = open
    this.#size = size
    this.#busyPending = busyPending
    this.#current = open()
    this.#connections = [this.#current]
  }

  start(): void {
    this.#current.start(true)
  }

  get connections(): readonly Connection[] {
    return this.#connections
  }

  /**
   * The connection for the next commands: the same for all commands of one write, which keeps their order.
   */
  get connection(): Connection {
    const current = this.#current
    if (current.isCollecting) return current
    if (current.isAccepting && current.pending < this.#busyPending) return current
    return this.#choose()
  }

  get isIdle(): boolean {
    return this.#connections.every(({ pending }) => pending === 0)
  }

  get isOpen(): boolean {
    return this.#connections.some(({ isOpen }) => isOpen)
  }

  close(reason: string): void {
    for (const connection of this.#connections) connection.close(reason)
  }

  #choose(): Connection {
    const usable = this.#connections.filter(({ isOpen, isAccepting }) => isOpen && isAccepting)
    const best = usable.reduce<Connection | undefined>(
      (best, other) => (best && best.pending <= other.pending ? best : other),
      undefined,
    )
    if (best === undefined) {
      const [first = this.#current] = this.#connections
      this.#current = this.#connections.find(({ isAccepting }) => isAccepting) ?? first
    } else {
      this.#current = best
      const isGrowing = usable.length < this.#connections.length
      if (best.pending >= this.#busyPending && !isGrowing) this.#grow()
    }
    return this.#current
  }

  #grow(): void {
    if (this.#connections.length >= this.#size) return
    const further = this.#open()
    this.#connections.push(further)
    // No command waits for it: it is used once it is established.
    further.start(false)
  }
}
