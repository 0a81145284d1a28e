import type { StopSignal } from '../lifecycle.ts'

/** What processes send each other. Services add messages of other kinds. */
export interface Message {
  readonly kind: string
}

/** What every primary sends its workers. */
export type ToWorker<Start = unknown> =
  /** The first message: all that the worker has to know. */
  | { readonly kind: 'start'; readonly start: Start }
  | HandOver
  | { readonly kind: 'stop'; readonly signal: StopSignal }

/** Comes with a socket. */
export interface HandOver {
  readonly kind: 'connection'
  /** The listener that the client connected to. */
  readonly listener: string
  /** What the primary has read of the connection already. */
  readonly read?: string
}

/** What every worker sends its primary. */
export type FromWorker =
  | { readonly kind: 'ready' }
  /** The worker cannot start, and ends. */
  | { readonly kind: 'failed'; readonly reason: string }
  /** The last socket has arrived. The counts of its listener and of its address include it. */
  | { readonly kind: 'adopted'; readonly count: number; readonly address?: AddressCount }
  | { readonly kind: 'connections'; readonly listener: string; readonly count: number }
  /** The connections of one address, where there is a limit for them. */
  | ({ readonly kind: 'address' } & AddressCount)

export interface AddressCount {
  readonly address: string
  readonly count: number
}
