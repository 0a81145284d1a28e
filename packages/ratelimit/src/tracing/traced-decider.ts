import type { SpanContext } from '@opentelemetry/api'
import type { Decider } from '../decide/decide.ts'
import type { Decided } from '../decide/decision.ts'
import { decodeRequest } from '../protocol/decode.ts'
import type { RateLimitRequest } from '../protocol/message.ts'
import type { RecordedSpan } from './recorded-span.ts'
import { cutText, toRequestText } from './request-text.ts'
import type { Spans } from './spans.ts'

/** Adds a span to each decision of a traced call. */
export function traceDecider(
  { decide, decideEncoded }: Decider,
  spans: Spans,
  maxAttributeLength: number,
): Decider {
  function start(request: RateLimitRequest, parent: SpanContext): RecordedSpan {
    return spans.start('ShouldRateLimit Execution', parent, {
      domain: cutText(request.domain, maxAttributeLength),
      'request string': toRequestText(request, maxAttributeLength),
    })
  }

  function ending(span: RecordedSpan, decided: Decided): Decided {
    return (error, response) => {
      spans.end(span, error)
      decided(error, response)
    }
  }

  return {
    decide(request, deadlineMs, decided) {
      const parent = spans.current
      if (parent === undefined) {
        decide(request, deadlineMs, decided)
        return
      }
      const span = start(request, parent)
      spans.runIn(span, () => decide(request, deadlineMs, ending(span, decided)))
    },

    decideEncoded(buffer, from, to, deadlineMs, decided) {
      const parent = spans.current
      if (parent === undefined) {
        decideEncoded(buffer, from, to, deadlineMs, decided)
        return
      }
      // Decoding throws before the span starts: a request that cannot be decoded is not decided.
      const span = start(decodeRequest(buffer, from, to), parent)
      spans.runIn(span, () => decideEncoded(buffer, from, to, deadlineMs, ending(span, decided)))
    },
  }
}
