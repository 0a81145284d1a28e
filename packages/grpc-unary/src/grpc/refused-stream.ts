import type { ResponseField } from '../hpack/response-encoder.ts'
import type { RequestHead } from '../http2/request-head.ts'
import { Stream, type StreamConnection } from '../http2/stream.ts'
import type { StatusCode } from '../status.ts'
import { answerFailed, answerHttp } from './answer.ts'

/** Why a request cannot be routed to a method. */
export type Refusal =
  | { readonly kind: 'grpc'; httpStatus: number; code: StatusCode; text: string }
  | { readonly kind: 'http'; httpStatus: number; text: string; fields?: readonly ResponseField[] }

/** A request that is answered without reading its body. */
export class RefusedStream extends Stream {
  readonly #refusal: Refusal

  constructor(connection: StreamConnection, id: number, head: RequestHead, refusal: Refusal) {
    super(connection, id, head)
    this.#refusal = refusal
    this.expiresAtMs = connection.hub.nowMs + connection.hub.limits.requestTimeoutMs
  }

  /** A gRPC caller may wait for the response before it continues, so it gets one immediately. */
  opened(): void {
    const refusal = this.#refusal
    if (refusal.kind !== 'grpc') return
    answerFailed(this, refusal.code, refusal.text, { httpStatus: refusal.httpStatus })
  }

  /** Other clients get their response at the end of the request, as HTTP clients expect. */
  data(_bytes: Buffer, _start: number, _end: number, isLast: boolean): void {
    if (isLast && this.isOpen) this.#answerHttp()
  }

  abandoned(): void {}

  crowdedOut(): void {
    this.#answerHttp()
  }

  isTimeUp(): boolean {
    return false
  }

  expire(): void {
    this.#answerHttp()
  }

  #answerHttp(): void {
    const refusal = this.#refusal
    if (refusal.kind === 'http') answerHttp(this, refusal.httpStatus, refusal.text, refusal.fields)
  }
}
