import type { Socket } from 'node:net'

interface Holder {
  countAddress(address: string): number
}

/** Limits the connections of one address over all workers. */
export class AddressLimit {
  readonly #limit: number
  readonly #workers: () => readonly Holder[]
  /** Accepted connections that no worker has taken over yet. */
  readonly #pending = new Map<string, Set<Socket>>()

  /** @param limit 0 for no limit. */
  constructor(limit: number, workers: () => readonly Holder[]) {
    this.#limit = limit
    this.#workers = workers
  }

  /** Returns false if the connection exceeds the limit. */
  takes(socket: Socket): boolean {
    const address = socket.remoteAddress
    if (this.#limit === 0 || address === undefined) return true
    const pending = this.#pending.get(address) ?? new Set()
    // The primary destroys its copy of the socket when a worker has counted the connection. The
    // event 'close' comes later, and until then the connection would be counted twice.
    const waiting = [...pending].filter(({ destroyed }) => !destroyed).length
    const open = this.#workers().reduce((sum, worker) => sum + worker.countAddress(address), 0)
    if (waiting + open >= this.#limit) return false
    this.#pending.set(address, pending.add(socket))
    socket.once('close', () => {
      pending.delete(socket)
      if (pending.size === 0) this.#pending.delete(address)
    })
    return true
  }
}
