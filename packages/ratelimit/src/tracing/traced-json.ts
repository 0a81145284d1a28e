import type { IncomingMessage, ServerResponse } from 'node:http'
import { type SpanContext, SpanKind, SpanStatusCode } from '@opentelemetry/api'
import type { Decide } from '../decide/decide.ts'
import { encodeResponse } from '../protocol/encode.ts'
import type { RateLimitResponse } from '../protocol/message.ts'
import { toResponseText } from '../protocol/response-text.ts'
import type { HttpHandler } from '../transports/http-listener.ts'
import { createJsonHandler, type JsonSettings } from '../transports/json.ts'
import type { RecordedSpan } from './recorded-span.ts'
import { cutText } from './request-text.ts'
import type { Sample } from './sampling.ts'
import type { Spans } from './spans.ts'

/** Adds a server span to each traced request to `/json`; other requests are passed on unchanged. */
export function traceJson(
  settings: JsonSettings,
  spans: Spans,
  sample: Sample<IncomingMessage>,
  maxAttributeLength: number,
): HttpHandler {
  const handle = createJsonHandler(settings)
  return (request, response) => {
    const parent = sample(request)
    if (parent === undefined) {
      handle(request, response)
      return
    }
    const span = startServerSpan(request, parent, spans)
    response.once('close', () => endServerSpan(span, response, spans))
    // The body arrives later, so a separate handler keeps the span of the request.
    const decide = traceDecide(settings, spans, span.context, maxAttributeLength)
    createJsonHandler({ ...settings, decide })(request, response)
  }
}

function traceDecide(
  { decide }: JsonSettings,
  spans: Spans,
  context: SpanContext,
  maxAttributeLength: number,
): Decide {
  return (message, deadlineMs, decided) => {
    spans.run(context, () => {
      decide(message, deadlineMs, (error, answer) => {
        if (answer === undefined) {
          decided(error, answer)
          return
        }
        const name = 'NewJsonHandler Remaining Execution'
        const text = cutText(toText(answer), maxAttributeLength)
        const span = spans.start(name, context, { response: text })
        spans.runIn(span, () => decided(error, answer))
        spans.end(span)
      })
    })
  }
}

function toText(answer: RateLimitResponse): string {
  const { buffer, length } = encodeResponse(answer)
  return toResponseText(buffer.subarray(0, length))
}

function startServerSpan(
  request: IncomingMessage,
  parent: SpanContext,
  spans: Spans,
): RecordedSpan {
  const { method = 'GET' } = request
  const attributes = {
    'http.request.method': method,
    'http.route': '/json',
    'url.path': '/json',
    'url.scheme': 'http',
  }
  return spans.start(`${method} /json`, parent, attributes, SpanKind.SERVER)
}

function endServerSpan(span: RecordedSpan, response: ServerResponse, spans: Spans): void {
  const { statusCode } = response
  // A client that disconnected has not received a status.
  if (response.headersSent) {
    span.attributes = { ...span.attributes, 'http.response.status_code': statusCode }
  }
  if (statusCode >= 500) span.status = { code: SpanStatusCode.ERROR }
  spans.end(span)
}
