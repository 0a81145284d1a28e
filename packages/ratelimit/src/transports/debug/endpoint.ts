import type { HttpHandler } from '../http-listener.ts'

/** A page of the debug listener. Its path and help are a line of the listing at `/`. */
export interface DebugEndpoint {
  readonly path: string
  readonly help: string
  readonly handle: HttpHandler
  /** Whether other machines need a token for it. */
  readonly isGuarded?: boolean
}
