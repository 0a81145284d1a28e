export type PartName = 'console' | 'auth' | 'ratelimit' | 'graphql' | 'mailbox'

/** How one part is doing. */
export interface PartHealth {
  /** Troubled: it answers, but not all is well. */
  readonly state: 'up' | 'troubled' | 'down'
  /** What it calls itself, where it says so. */
  readonly product?: string | undefined
  readonly version?: string | undefined
  /** Where it is, when nothing else says so. */
  readonly address?: string | undefined
  /** How long it took to answer. */
  readonly latencyMs?: number | undefined
  /** What is wrong, or worth knowing. */
  readonly detail?: string | undefined
  /** Milliseconds since the epoch, where it tells. */
  readonly startedAt?: number | undefined
  /** How many users an auth server has. */
  readonly users?: number | undefined
}

/** Asks a part how it is doing; never rejects. */
export type CheckPart = (signal?: AbortSignal) => Promise<PartHealth>
