import type { StatusCode } from './status.ts'

/** One unary call. It is open until it is answered or cancelled, or until its connection is lost. */
export interface UnaryCall {
  /**
   * The request message is `buffer` from `start` to `end`. The bytes belong to the connection and are
   * valid only while the handler runs synchronously: an asynchronous handler decodes or copies what it
   * needs before its first `await`.
   */
  readonly buffer: Buffer
  /** Offset of the first byte of the request message in `buffer`. */
  readonly start: number
  /** Offset after the last byte of the request message in `buffer`. */
  readonly end: number
  /** When the caller stops waiting, in milliseconds as `performance.now()`; `Infinity` without a deadline. */
  readonly deadlineMs: number
  /** False once the call was answered, cancelled or lost; a handler can stop working for it then. */
  readonly isOpen: boolean
  /** Returns a request header by its lower-case name; headers of the same name are joined by commas. */
  header(name: string): string | undefined
  /** Answers with the bytes of `message` from `start` to `end`, which are copied. Ignored when not open. */
  send(message: Uint8Array, start: number, end: number): void
  /** Answers with a status other than OK. Ignored when not open. */
  fail(code: StatusCode, message: string): void
}

/**
 * Answers a call with `send` or `fail`, at once or later. If it throws, or if the promise that it
 * returns rejects, the caller gets INTERNAL without details, and the error goes to `report`.
 */
export type UnaryHandler = (call: UnaryCall) => void | Promise<void>

/** A call with any number of messages in either direction. */
export interface StreamCall {
  /** When the caller stops waiting, in milliseconds as `performance.now()`; `Infinity` without a deadline. */
  readonly deadlineMs: number
  /** False once the call was ended, cancelled or lost. */
  readonly isOpen: boolean
  /** Returns a request header by its lower-case name; headers of the same name are joined by commas. */
  header(name: string): string | undefined
  /** Sends one message, which is copied. What exceeds the peer's window is buffered, up to a limit. */
  send(message: Uint8Array): void
  /** Ends the call with status OK. */
  end(): void
  /** Ends the call with a status other than OK. Ignored when not open. */
  fail(code: StatusCode, message: string): void
}

/**
 * Receives the events of one stream. If a method throws, or if the promise that it returns rejects,
 * the call ends with INTERNAL, and the error goes to `report`.
 */
export interface StreamHandler {
  /** A message from the caller. Its bytes are valid only while the method runs synchronously. */
  message(message: Buffer): void | Promise<void>
  /** The caller sends no more messages. */
  halfClose?(): void | Promise<void>
  /** The call was cancelled or its connection was lost. Not called after `end` or `fail`. */
  cancel?(): void | Promise<void>
}

/** A method that takes one message. */
export interface UnaryMethod {
  /** Selects this kind of method. */
  readonly kind: 'unary'
  /** Called with each call whose request has arrived. */
  readonly handle: UnaryHandler
  /**
   * Called with the beginning of a long message, before the rest has arrived. If it returns true, `handle` is
   * called with this beginning and has to fail the call at once, so that the server neither waits for the rest
   * nor keeps it in memory.
   */
  readonly canRefuse?: (buffer: Buffer, start: number, end: number) => boolean
}

/** A method that takes any number of messages. */
export interface StreamMethod {
  /** Selects this kind of method. */
  readonly kind: 'stream'
  /** Called with each new call; returns, synchronously, the handler of its events. */
  readonly open: (call: StreamCall) => StreamHandler
}

/** How one method is served. */
export type Method = UnaryMethod | StreamMethod

/** The methods of a server by their full path: `/package.Service/Method`. */
export type Methods = Readonly<Record<string, Method>>
