import type { RequestHead } from '../http2/request-head.ts'
import { Stream, type StreamConnection } from '../http2/stream.ts'
import type { StreamCall, StreamHandler, StreamMethod } from '../method.ts'
import { type StatusCode, status } from '../status.ts'
import {
  ACCEPTED_ENCODINGS,
  answerEmpty,
  answerFailed,
  finishFailed,
  finishOk,
  putHeaders,
  sendMessage,
} from './answer.ts'
import { catchRejection, isThenable, type Report } from './handler-errors.ts'
import { MessageReader, type MessageSink, TOO_MANY_UNFINISHED } from './message-reader.ts'
import { isNearDeadline } from './timeout.ts'

/** One call with any number of messages in either direction. */
export class MessageStream extends Stream implements StreamCall, MessageSink {
  readonly deadlineMs: number
  readonly #method: StreamMethod
  readonly #report: Report
  readonly #reader: MessageReader
  #handler: StreamHandler | undefined
  #hasHeaders = false

  constructor(
    connection: StreamConnection,
    id: number,
    head: RequestHead,
    method: StreamMethod,
    timeoutMs: number,
    report: Report,
  ) {
    super(connection, id, head)
    this.deadlineMs = connection.hub.nowMs + timeoutMs
    this.expiresAtMs = this.deadlineMs
    this.#method = method
    this.#report = report
    this.#reader = new MessageReader(this, this)
  }

  opened(): void {
    this.#guard(() => {
      const handler: StreamHandler | PromiseLike<unknown> = this.#method.open(this)
      // Messages may follow in the same read, so the handler must be available synchronously.
      if (isThenable(handler)) return rejectPromise(handler)
      this.#handler = handler
    })
  }

  data(bytes: Buffer, start: number, end: number, isLast: boolean): void {
    this.#reader.read(bytes, start, end)
    if (!isLast || !this.isOpen) return
    if (this.#reader.isInside) this.refuse(status.INTERNAL, 'grpc: unexpected end of the request')
    else this.#guard(() => this.#handler?.halfClose?.())
  }

  message(bytes: Buffer, start: number, end: number): void {
    this.#guard(() => this.#handler?.message(bytes.subarray(start, end)))
  }

  send(message: Uint8Array): void {
    if (!this.isOpen) return
    if (!this.#hasHeaders) putHeaders(this)
    this.#hasHeaders = true
    sendMessage(this, message, 0, message.length)
  }

  end(): void {
    if (!this.isOpen) return
    if (this.#hasHeaders) finishOk(this)
    else answerEmpty(this)
  }

  fail(code: StatusCode, message: string): void {
    if (!this.isOpen) return
    if (this.#hasHeaders) finishFailed(this, code, message)
    else answerFailed(this, code, message)
  }

  /** Fails a call whose request cannot be read, and notifies the handler. */
  refuse(code: StatusCode, text: string): void {
    if (!this.isOpen) return
    if (this.#hasHeaders) finishFailed(this, code, text)
    else answerFailed(this, code, text, { fields: ACCEPTED_ENCODINGS })
    this.abandoned()
  }

  abandoned(): void {
    this.#guard(() => this.#handler?.cancel?.())
  }

  crowdedOut(): void {
    this.refuse(status.RESOURCE_EXHAUSTED, TOO_MANY_UNFINISHED)
  }

  isTimeUp(nowMs: number): boolean {
    return isNearDeadline(this.head.timeout, this.deadlineMs, nowMs)
  }

  expire(): void {
    this.fail(status.DEADLINE_EXCEEDED, 'deadline exceeded')
    this.abandoned()
  }

  #guard(run: () => unknown): void {
    try {
      const returned = run()
      if (returned !== undefined) catchRejection(returned, (error) => this.#failed(error))
    } catch (error) {
      this.#failed(error)
    }
  }

  #failed(error: unknown): void {
    this.#report(error)
    if (!this.isOpen) return
    this.fail(status.INTERNAL, 'internal error')
    this.abandoned()
  }
}

async function rejectPromise(handler: PromiseLike<unknown>): Promise<never> {
  await handler
  throw new TypeError(
    'open() of a stream method returned a promise; return the handler synchronously and do the ' +
      'asynchronous work in its methods',
  )
}
