import type { Socket } from 'node:net'

interface Holder {
  countAddress(address: string): number
}

/** Bounds the connections of one address over all workers. */
export class AddressLimit {
  readonly #limit: number
  readonly #workers: () => readonly Holder[]
  /** Connections that were accepted and that no worker has taken yet. */
  readonly #pending = new Map<string, number>()

  /** @param limit 0 for none. */
  constructor(limit: number, workers: () => readonly Holder[]) {
    this.#limit = limit
    this.#workers = workers
  }

  /** False when the connection is one too many. */
  takes(socket: Socket): boolean {
    const address = socket.remoteAddress
    if (this.#limit === 0 || address === undefined) return true
    const pending = this.#pending.get(address) ?? 0
    const open = this.#workers().reduce((sum, worker) => sum + worker.countAddress(address), 0)
    if (pending + open >= this.#limit) return false
    this.#pending.set(address, pending + 1)
    // Closed here as soon as a worker has it, after that worker has counted it.
    socket.once('close', () => this.#forget(address))
    return true
  }

  #forget(address: string): void {
    const pending = (this.#pending.get(address) ?? 1) - 1
    if (pending === 0) this.#pending.delete(address)
    else this.#pending.set(address, pending)
  }
}
