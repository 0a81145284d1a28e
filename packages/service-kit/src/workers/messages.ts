import type { StopSignal } from '../process/lifecycle.ts'

/** A message between processes. Services define additional kinds. */
export interface Message {
  readonly kind: string
}

/** The messages that every primary sends to its workers. */
export type ToWorker<Start = unknown> =
  /** The first message, with everything that the worker needs to start. */
  | { readonly kind: 'start'; readonly start: Start }
  | HandOver
  | { readonly kind: 'stop'; readonly signal: StopSignal }

/** Sent together with a socket. */
export interface HandOver {
  readonly kind: 'connection'
  /** The listener that the client connected to. */
  readonly listener: string
  /** Bytes of the connection that the primary has already read. */
  readonly read?: string
}

/** The messages that every worker sends to its primary. */
export type FromWorker =
  | { readonly kind: 'ready' }
  /** The worker cannot start, and exits. */
  | { readonly kind: 'failed'; readonly reason: string }
  /** The last socket has arrived. The counts of its listener and of its address include it. */
  | { readonly kind: 'adopted'; readonly count: number; readonly address?: AddressCount }
  | { readonly kind: 'connections'; readonly listener: string; readonly count: number }
  /** The connections of one address, if they are limited. */
  | ({ readonly kind: 'address' } & AddressCount)

export interface AddressCount {
  readonly address: string
  readonly count: number
}
