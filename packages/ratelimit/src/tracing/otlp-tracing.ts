import type { IncomingMessage } from 'node:http'
import type { UnaryCall } from '@portcullis/grpc-unary'
import type { Log } from '@portcullis/service-kit/log'
import type { TracingConfig } from '../config/tracing.ts'
import { logDiagnostics } from './diagnostics.ts'
import { createSample } from './sampling.ts'
import { openSpanSender } from './span-sender.ts'
import { Spans } from './spans.ts'
import { traceDecider } from './traced-decider.ts'
import { traceJson } from './traced-json.ts'
import { traceMethods } from './traced-methods.ts'
import { traceStore } from './traced-store.ts'
import type { Tracing } from './tracing.ts'

/** Tracing with OpenTelemetry. To be loaded only when it is wanted: it is large. */
export async function openOtlpTracing(config: TracingConfig, log: Log): Promise<Tracing> {
  logDiagnostics(log)
  const sender = await openSpanSender(config, log)
  const spans = new Spans(sender)
  const sampleCall = createSample<UnaryCall>({
    rate: config.samplingRate,
    readHeader: (call, name) => call.header(name),
  })
  const sampleRequest = createSample<IncomingMessage>({
    rate: config.samplingRate,
    readHeader: readHttpHeader,
  })
  return {
    traceMethods: (methods) => traceMethods(methods, spans, sampleCall),
    traceJson: (settings) => traceJson(settings, spans, sampleRequest, config.maxAttributeLength),
    traceDecider: (decider) => traceDecider(decider, spans, config.maxAttributeLength),
    traceStore: (store, span) => traceStore(store, span, spans),
    flush: (giveUp) => sender.flush(giveUp),
    [Symbol.asyncDispose]: () => sender[Symbol.asyncDispose](),
  }
}

function readHttpHeader({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : value?.join(',')
}
