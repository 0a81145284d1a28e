import type { Counted, CounterStore, Increment } from '../../counters/counter-store.ts'
import { type MemoryStore, openMemoryStore } from '../../counters/memory/memory-store.ts'

/** A store that can forget everything, so that the rules need not be compiled for every test. */
export class FreshStore implements CounterStore {
  readonly #now: () => number
  #store: MemoryStore

  constructor(now: () => number) {
    this.#now = now
    this.#store = openMemoryStore({ now })
  }

  async renew(): Promise<void> {
    await this.#store[Symbol.asyncDispose]()
    this.#store = openMemoryStore({ now: this.#now })
  }

  add(increments: readonly Increment[], deadlineMs: number, counted: Counted): void {
    this.#store.add(increments, deadlineMs, counted)
  }

  addSparing(increments: readonly Increment[], deadlineMs: number, counted: Counted): void {
    this.#store.addSparing(increments, deadlineMs, counted)
  }

  read(increments: readonly Increment[], deadlineMs: number, counted: Counted): void {
    this.#store.read(increments, deadlineMs, counted)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#store[Symbol.asyncDispose]()
  }
}
