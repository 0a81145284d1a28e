import { SpanKind, SpanStatusCode } from '@opentelemetry/api'
import {
  type Method,
  type Methods,
  type StatusCode,
  status,
  type UnaryCall,
  type UnaryHandler,
} from '@portcullis/grpc-unary'
import type { RecordedSpan } from './recorded-span.ts'
import type { Sample } from './sampling.ts'
import type { Spans } from './spans.ts'

/** Adds a server span to each traced unary call; other calls are passed on unchanged. */
export function traceMethods(methods: Methods, spans: Spans, sample: Sample<UnaryCall>): Methods {
  const entries = Object.entries(methods).map(([path, method]): [string, Method] => {
    if (method.kind !== 'unary') return [path, method]
    return [path, { ...method, handle: traceHandler(path, method.handle, spans, sample) }]
  })
  return Object.fromEntries(entries)
}

function traceHandler(
  path: string,
  handle: UnaryHandler,
  spans: Spans,
  sample: Sample<UnaryCall>,
): UnaryHandler {
  const name = path.slice(1)
  const [service, method] = name.split('/')
  const attributes = { 'rpc.system': 'grpc', 'rpc.service': service, 'rpc.method': method }

  return (call) => {
    const parent = sample(call)
    if (parent === undefined) return handle(call)
    const span = spans.start(name, parent, attributes, SpanKind.SERVER)
    const traced = new TracedCall(call, span, spans)
    return spans.runIn(span, () => handle(traced))
  }
}

/** Codes that indicate a failure of the server instead of an invalid request. */
const serverFaults: ReadonlySet<StatusCode> = new Set([
  status.UNKNOWN,
  status.DEADLINE_EXCEEDED,
  status.UNIMPLEMENTED,
  status.INTERNAL,
  status.UNAVAILABLE,
  status.DATA_LOSS,
])

/** Ends its span with the response. */
class TracedCall implements UnaryCall {
  readonly #call: UnaryCall
  readonly #span: RecordedSpan
  readonly #spans: Spans

  constructor(call: UnaryCall, span: RecordedSpan, spans: Spans) {
    this.#call = call
    this.#span = span
    this.#spans = spans
  }

  get buffer(): Buffer {
    return this.#call.buffer
  }

  get start(): number {
    return this.#call.start
  }

  get end(): number {
    return this.#call.end
  }

  get deadlineMs(): number {
    return this.#call.deadlineMs
  }

  get isOpen(): boolean {
    return this.#call.isOpen
  }

  header(name: string): string | undefined {
    return this.#call.header(name)
  }

  send(message: Uint8Array, start: number, end: number): void {
    this.#endSpan(status.OK, '')
    this.#call.send(message, start, end)
  }

  fail(code: StatusCode, message: string): void {
    this.#endSpan(code, message)
    this.#call.fail(code, message)
  }

  #endSpan(answer: StatusCode, message: string): void {
    const span = this.#span
    if (span.ended) return
    const code = this.isOpen ? answer : this.#lostCode()
    span.attributes = { ...span.attributes, 'rpc.grpc.status_code': code }
    if (serverFaults.has(code)) {
      span.status = { code: SpanStatusCode.ERROR, ...(code === answer && { message }) }
    }
    this.#spans.end(span)
  }

  /** The code for a response that is too late: the deadline has passed, or the client cancelled the call. */
  #lostCode(): StatusCode {
    return this.deadlineMs <= performance.now() ? status.DEADLINE_EXCEEDED : status.CANCELLED
  }
}
