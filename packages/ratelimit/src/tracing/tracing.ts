import type { Methods } from '@portcullis/grpc-unary'
import type { CounterStore } from '../counters/counter-store.ts'
import type { StoreSpan } from '../counters/store-plugin.ts'
import type { Decider } from '../decide/decide.ts'
import type { HttpHandler } from '../transports/http-listener.ts'
import { createJsonHandler, type JsonSettings } from '../transports/json.ts'

/**
 * Adds spans to the parts of a call. Each function wraps a part and returns one with the same behavior.
 * Nothing else in the service depends on tracing.
 */
export interface Tracing extends AsyncDisposable {
  traceMethods(methods: Methods): Methods
  traceJson(settings: JsonSettings): HttpHandler
  traceDecider(decider: Decider): Decider
  /** @param span - undefined if calls of the store are too short for a span */
  traceStore(store: CounterStore, span: StoreSpan | undefined): CounterStore
  /** Sends the queued spans, until the signal is aborted. */
  flush(giveUp: AbortSignal): Promise<void>
}

/** For TRACING_ENABLED=false: every part stays unchanged. */
export const noTracing: Tracing = {
  traceMethods: (methods) => methods,
  traceJson: createJsonHandler,
  traceDecider: (decider) => decider,
  traceStore: (store) => store,
  flush: async () => {},
  [Symbol.asyncDispose]: async () => {},
}
