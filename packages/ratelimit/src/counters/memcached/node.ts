import { setTimeout as sleep } from 'node:timers/promises'
import { Connection, type ConnectionSettings } from './connection.ts'

/**
 * Replies outstanding on a connection above which another one is used: far more than a node leaves
 * open that keeps up.
 */
const busyPending = 2_048
const pollMs = 5

export interface NodeSettings extends Omit<ConnectionSettings, 'onOpen' | 'onDown'> {
  readonly maxConnections: number
  readonly onDown: ConnectionSettings['onDown']
}

/** One memcached with a few connections, of which it uses as few as keep up. */
export class Node {
  /** The first attempt to connect has ended, one way or the other. */
  readonly firstAttempt: Promise<void>
  readonly #endFirstAttempt: () => void
  readonly #settings: ConnectionSettings
  readonly #maxConnections: number
  readonly #connections: Connection[]
  #current: Connection

  constructor({ maxConnections, onDown, ...settings }: NodeSettings) {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.firstAttempt = promise
    this.#endFirstAttempt = resolve
    this.#maxConnections = maxConnections
    this.#settings = {
      ...settings,
      onOpen: resolve,
      onDown(reason) {
        resolve()
        onDown(reason)
      },
    }
    this.#current = new Connection(this.#settings)
    this.#connections = [this.#current]
    this.#current.start(true)
  }

  /** Where the next commands go. The same for all commands of one write, so their order holds. */
  get connection(): Connection {
    const current = this.#current
    if (current.isCollecting) return current
    if (current.isAccepting && current.pending < busyPending) return current
    return this.#choose()
  }

  get isOpen(): boolean {
    return this.#connections.some(({ isOpen }) => isOpen)
  }

  /** Waits until nothing is on the way any more, but not for ever, and closes. */
  async finish(withinMs: number, reason: string): Promise<void> {
    const endsAtMs = performance.now() + withinMs
    while (performance.now() < endsAtMs && this.#connections.some(({ pending }) => pending > 0)) {
      await sleep(pollMs)
    }
    for (const connection of this.#connections) connection.close(reason)
    this.#endFirstAttempt()
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
      if (best.pending >= busyPending && !isGrowing) this.#grow()
    }
    return this.#current
  }

  #grow(): void {
    if (this.#connections.length >= this.#maxConnections) return
    const further = new Connection(this.#settings)
    this.#connections.push(further)
    // Nobody waits for it: it is used once it stands.
    further.start(false)
  }
}
