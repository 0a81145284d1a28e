import type { Attributes } from '@opentelemetry/api'
import type { Counted, CounterStore, Increment } from '../counters/counter-store.ts'
import type { Spans } from './spans.ts'
import type { TracedStoreKind } from './tracing.ts'

interface StoreSpan {
  readonly name: string
  readonly toAttributes: (increments: readonly Increment[], kind: TracedStoreKind) => Attributes
}

/** Undefined where counting is no work worth a span. */
const storeSpans: Readonly<Record<TracedStoreKind['kind'], StoreSpan | undefined>> = {
  memory: undefined,
  redis: { name: 'Redis Pipeline Execution', toAttributes: toPipelineLengths },
  memcached: {
    name: 'Memcached Fetch Execution',
    toAttributes: (increments) => ({ 'keysToGet length': increments.length }),
  },
}

/** In commands, of which envoyproxy/ratelimit sends two per key whatever ours needs. */
function toPipelineLengths(
  increments: readonly Increment[],
  { hasPerSecond }: TracedStoreKind,
): Attributes {
  const perSecond = hasPerSecond
    ? increments.filter(({ unitSeconds }) => unitSeconds === 1).length
    : 0
  return {
    'pipeline length': 2 * (increments.length - perSecond),
    'perSecondPipeline length': 2 * perSecond,
  }
}

/** A span around each question to a store outside of this process. */
export function traceStore(store: CounterStore, kind: TracedStoreKind, spans: Spans): CounterStore {
  const storeSpan = storeSpans[kind.kind]
  return storeSpan === undefined ? store : new TracedStore(store, kind, storeSpan, spans)
}

class TracedStore implements CounterStore {
  readonly #store: CounterStore
  readonly #kind: TracedStoreKind
  readonly #span: StoreSpan
  readonly #spans: Spans

  constructor(store: CounterStore, kind: TracedStoreKind, span: StoreSpan, spans: Spans) {
    this.#store = store
    this.#kind = kind
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
    const attributes = this.#span.toAttributes(increments, this.#kind)
    const span = spans.start(this.#span.name, parent, attributes)
    spans.runIn(span, () => {
      this.#store[method](increments, deadlineMs, (error) => {
        spans.end(span, error)
        // The decision may have a second question.
        spans.run(parent, () => counted(error))
      })
    })
  }
}
