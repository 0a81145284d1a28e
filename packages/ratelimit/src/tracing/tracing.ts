import type { Methods } from '@portcullis/grpc-unary'
import type { CounterStore } from '../counters/counter-store.ts'
import type { StoreSpan } from '../counters/store-plugin.ts'
import type { Decider } from '../decide/decide.ts'
import type { HttpHandler } from '../transports/http-listener.ts'
import { createJsonHandler, type JsonSettings } from '../transports/json.ts'

/**
 * Puts spans around the parts of a call (reference 7.5). Each function takes a part and gives back
 * one that does the same. Nothing else in the service knows of traces.
 */
export interface Tracing extends AsyncDisposable {
  traceMethods(methods: Methods): Methods
  traceJson(settings: JsonSettings): HttpHandler
  traceDecider(decider: Decider): Decider
  /** @param span undefined where the store is not worth a span. */
  traceStore(store: CounterStore, span: StoreSpan | undefined): CounterStore
  /** Sends what waits, for as long as a stop may take, or until told to give up. */
  flush(giveUp: AbortSignal): Promise<void>
}

/** TRACING_ENABLED=false: every part stays as it is. */
export const noTracing: Tracing = {
  traceMethods: (methods) => methods,
  traceJson: createJsonHandler,
  traceDecider: (decider) => decider,
  traceStore: (store) => store,
  flush: async () => {},
  [Symbol.asyncDispose]: async () => {},
}
