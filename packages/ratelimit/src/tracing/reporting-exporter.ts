import { type ExportResult, ExportResultCode } from '@opentelemetry/core'
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace'
import type { Log } from '@portcullis/service-kit/log'

/** How long the collector must work before its next failure is logged. */
const calmMs = 60_000

/** Logs the loss of spans and the recovery once each, even if the collector alternates between both. */
export class ReportingExporter implements SpanExporter {
  readonly #exporter: SpanExporter
  readonly #log: Log
  #lostSpans = 0
  #hasSaidLost = false
  #quietUntilMs = 0

  constructor(exporter: SpanExporter, log: Log) {
    this.#exporter = exporter
    this.#log = log
  }

  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    this.#exporter.export(spans, (result) => {
      if (result.code === ExportResultCode.SUCCESS) this.#found()
      else this.#lost(spans.length, result.error)
      done(result)
    })
  }

  async forceFlush(): Promise<void> {
    await this.#exporter.forceFlush?.()
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown()
  }

  #lost(count: number, error: Error | undefined): void {
    const isNews = this.#lostSpans === 0
    this.#lostSpans += count
    if (!isNews) return
    this.#hasSaidLost = performance.now() >= this.#quietUntilMs
    if (!this.#hasSaidLost) return
    this.#log.warning(
      `Spans are lost: the collector did not accept them (${toReason(error)}). ` +
        'Check the OTEL_EXPORTER_OTLP_ variables. Decisions are not affected.',
    )
  }

  #found(): void {
    if (this.#lostSpans === 0) return
    if (this.#hasSaidLost) {
      this.#log.warning(`The collector accepts spans again; ${this.#lostSpans} were lost`)
    }
    this.#lostSpans = 0
    this.#quietUntilMs = performance.now() + calmMs
  }
}

/** The code is the status of the collector, or the only detail of an error of several attempts. */
function toReason(error: Error | undefined): string {
  if (error === undefined) return 'no reason given'
  const { message } = error
  const code = 'code' in error && error.code !== undefined ? String(error.code) : ''
  return message.includes(code) ? message || error.name : `${code} ${message}`.trimEnd()
}
