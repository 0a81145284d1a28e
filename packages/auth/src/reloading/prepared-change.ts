import type { Config } from '../config/config.ts'

/** A configuration that a server can change to at any time. */
export interface PreparedChange {
  /** New requests use the new configuration; those in progress finish with the old one. */
  commit(): void
  /** Keeps the old configuration. */
  discard(): Promise<void>
}

/**
 * Prepares the change to another configuration while the current one stays in effect.
 * @throws {Error} if it cannot be used.
 */
export type PrepareChange = (config: Config) => Promise<PreparedChange>
