import type { StopSignal } from '../lifecycle.ts'

/** What processes tell each other. Whoever uses workers adds messages of other kinds. */
export interface Message {
  readonly kind: string
}

/** What every primary tells its workers. */
export type ToWorker<Start = unknown> =
  /** The first message: all that it has to know. */
  | { readonly kind: 'start'; readonly start: Start }
  | HandOver
  | { readonly kind: 'stop'; readonly signal: StopSignal }

/** Comes with a socket. */
export interface HandOver {
  readonly kind: 'connection'
  /** What the client connected to. */
  readonly listener: string
  /** What the primary has read of it already. */
  readonly read?: string
}

/** What every worker tells its primary. */
export type FromWorker =
  | { readonly kind: 'ready' }
  /** It cannot start, and ends. */
  | { readonly kind: 'failed'; readonly reason: string }
  /** The last connection that was handed over has arrived. */
  | { readonly kind: 'adopted' }
