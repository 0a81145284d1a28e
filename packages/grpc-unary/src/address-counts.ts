/** Counts the open connections of each address, if there is a limit. */
export class AddressCounts {
  readonly #limit: number
  readonly #onCount: ((address: string, count: number) => void) | undefined
  readonly #counts = new Map<string, number>()

  /** @param limit 0 for no limit, in which case nothing is counted. */
  constructor(limit: number, onCount?: (address: string, count: number) => void) {
    this.#limit = limit
    this.#onCount = onCount
  }

  /**
   * Returns false if the address has reached the limit. Unix sockets have no address and no limit.
   */
  add(address: string | undefined): boolean {
    if (this.#limit === 0 || address === undefined) return true
    const count = (this.#counts.get(address) ?? 0) + 1
    if (count > this.#limit) return false
    this.#set(address, count)
    return true
  }

  remove(address: string | undefined): void {
    const count = address === undefined ? undefined : this.#counts.get(address)
    if (address !== undefined && count !== undefined) this.#set(address, count - 1)
  }

  #set(address: string, count: number): void {
    if (count === 0) this.#counts.delete(address)
    else this.#counts.set(address, count)
    this.#onCount?.(address, count)
  }
}
