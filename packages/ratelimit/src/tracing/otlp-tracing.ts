import type { IncomingMessage } from 'node:http'
import { type DiagLogger, DiagLogLevel, diag } from '@opentelemetry/api'
import { setGlobalErrorHandler } from '@opentelemetry/core'
import type { UnaryCall } from '@portcullis/grpc-unary'
import type { Log } from '@portcullis/service-kit/log/log'
import { toMessage } from '@portcullis/service-kit/text/reason'
import type { TracingConfig } from '../config/tracing.ts'
import { createSample } from './sampling.ts'
import { openSpanSender } from './span-sender.ts'
import { Spans } from './spans.ts'
import { traceDecider } from './traced-decider.ts'
import { traceJson } from './traced-json.ts'
import { traceMethods } from './traced-methods.ts'
import { traceStore } from './traced-store.ts'
import type { Tracing } from './tracing.ts'

/** Tracing with OpenTelemetry, which is large and loaded only when tracing is enabled. */
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

const pauseMs = 60_000

/** Writes the messages of OpenTelemetry to the log, each at most once a minute. */
export function logDiagnostics(log: Log): void {
  const quietUntilMs = new Map<string, number>()
  const warn = (message: string, ...details: readonly unknown[]): void => {
    const kind = message.replaceAll(/\d+/g, '')
    const nowMs = performance.now()
    if (nowMs < (quietUntilMs.get(kind) ?? 0)) return
    quietUntilMs.set(kind, nowMs + pauseMs)
    const text = [message, ...details.filter((detail) => typeof detail === 'string')].join(' ')
    log.warning(`Tracing: ${text}`)
  }
  const ignore = () => {}
  const logger: DiagLogger = { error: warn, warn, info: ignore, debug: ignore, verbose: ignore }
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true })
  // These are batches that were not sent, about which the exporter logs a better message.
  setGlobalErrorHandler((error) => log.debug(() => `Tracing: ${toMessage(error)}`))
}
