import type { Counted, CounterStore, Increment } from '../counters/counter-store.ts'
import type { StoreSpan } from '../counters/store-plugin.ts'
import type { Spans } from './spans.ts'

/** Adds a span to each call of a store outside this process. */
export function traceStore(
  store: CounterStore,
  span: StoreSpan | undefined,
  spans: Spans,
): CounterStore {
  return span === undefined ? store : new TracedStore(store, span, spans)
}

class TracedStore implements CounterStore {
  readonly #store: CounterStore
  readonly #span: StoreSpan
  readonly #spans: Spans

  constructor(store: CounterStore, span: StoreSpan, spans: Spans) {
    this.#store = store
    this.#span = span
    this.#spans = spans
  }

  add(increments: readonly Increment[], deadlineMs: number, counted: Counted): void {
    if (this.#spans.current === undefined) this.#store.add(increments, deadlineMs, counted)
    else this.#trace('add', increments, deadlineMs, counted)
  }

  addSparing(increments: readonly Increment[], deadlineMs: number, counted: Counted): void {
    if (this.#spans.current === undefined) this.#store.addSparing(increments, deadlineMs, counted)
    else this.#trace('addSparing', increments, deadlineMs, counted)
  }

  read(increments: readonly Increment[], deadlineMs: number, counted: Counted): void {
    if (this.#spans.current === undefined) this.#store.read(increments, deadlineMs, counted)
    else this.#trace('read', increments, deadlineMs, counted)
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.#store[Symbol.asyncDispose]()
  }

  #trace(
    method: 'add' | 'addSparing' | 'read',
    increments: readonly Increment[],
    deadlineMs: number,
    counted: Counted,
  ): void {
    const spans = this.#spans
    const parent = spans.current
    if (parent === undefined) return
    const attributes = this.#span.toAttributes(increments)
    const span = spans.start(this.#span.name, parent, attributes)
    spans.runIn(span, () => {
      this.#store[method](increments, deadlineMs, (error) => {
        spans.end(span, error)
        // The decision may call the store again.
        spans.run(parent, () => counted(error))
      })
    })
  }
}
