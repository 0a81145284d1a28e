import type { IncomingMessage, ServerResponse } from 'node:http'

export interface MetricsListenerSettings {
  readonly host: string
  readonly port: number
  /** By exact path. */
  readonly routes: Readonly<
    Record<string, (request: IncomingMessage, response: ServerResponse) => void>
  >
}

/** The part of an HTTP server that Prometheus needs. */
export type MetricsListener = (
  settings: MetricsListenerSettings,
) => Promise<AsyncDisposable & { readonly address: string }>
