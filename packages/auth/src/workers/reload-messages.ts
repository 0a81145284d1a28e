import type { Config } from '../config/config.ts'

/**
 * From the primary to its workers, in two steps: all workers prepare a configuration, and change to
 * it only if every one of them can use it.
 */
export type ReloadMessage =
  | { readonly kind: 'prepare'; readonly id: number; readonly config: Config }
  /** Has the configuration for workers that were not ready when the others prepared it. */
  | { readonly kind: 'commit'; readonly id: number; readonly config: Config }
  | { readonly kind: 'discard'; readonly id: number }

/** The response of a worker. */
export interface PreparedMessage {
  readonly kind: 'prepared'
  readonly id: number
  /** The reason why the worker cannot use the configuration. */
  readonly failure?: string
}
