import type { StatusCode } from './status.ts'

/** One unary call. It lives until it is answered, cancelled, or its connection is gone. */
export interface UnaryCall {
  /**
   * The request message is `buffer` from `start` to `end`. The bytes belong to the connection and
   * are only valid until the handler returns: what is needed later is decoded or copied by then.
   */
  readonly buffer: Buffer
  readonly start: number
  readonly end: number
  /** When the caller stops waiting, as `Date.now()`; `Infinity` where it named no deadline. */
  readonly deadlineMs: number
  /** False once the call was answered, cancelled, or lost: no work is worth doing for it. */
  readonly isOpen: boolean
  /** A request header by its lower-case name. Decoded only when asked for. */
  header(name: string): string | undefined
  /** Answers with the message between `start` and `end`, which is copied. Nothing when not open. */
  send(message: Uint8Array, start: number, end: number): void
  /** Answers with a status other than OK. Nothing when not open. */
  fail(code: StatusCode, message: string): void
}

/** Answers the call now or later. What it throws becomes INTERNAL and is reported. */
export type UnaryHandler = (call: UnaryCall) => void

/** A call with any number of messages in either direction. */
export interface StreamCall {
  readonly deadlineMs: number
  readonly isOpen: boolean
  header(name: string): string | undefined
  /** Sends one message, copied. What the peer's window does not take yet is held back, bounded. */
  send(message: Uint8Array): void
  /** Ends the call with status OK. */
  end(): void
  fail(code: StatusCode, message: string): void
}

export interface StreamHandler {
  /** A message of the caller; the bytes are only valid until it returns. */
  message(message: Buffer): void
  /** The caller sends no more. */
  halfClose?(): void
  /** Cancelled, or the connection is gone; not called after `end` or `fail`. */
  cancel?(): void
}

export type Method =
  | { readonly kind: 'unary'; readonly handle: UnaryHandler }
  | { readonly kind: 'stream'; readonly open: (call: StreamCall) => StreamHandler }

/** By full path: `/package.Service/Method`. */
export type Methods = Readonly<Record<string, Method>>
