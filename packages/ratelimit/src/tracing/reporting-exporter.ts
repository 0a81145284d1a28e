import { type ExportResult, ExportResultCode } from '@opentelemetry/core'
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace'
import type { Log } from '@portcullis/service-kit/log/log'
import { toCountText } from '@portcullis/service-kit/text/format'
import { toCode, toMessage } from '@portcullis/service-kit/text/reason'

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
      `Spans are lost: the collector did not accept them (${toExportReason(error)}). ` +
        'Check the OTEL_EXPORTER_OTLP_ variables. Decisions are not affected.',
    )
  }

  #found(): void {
    if (this.#lostSpans === 0) return
    if (this.#hasSaidLost) {
      const lost = toCountText(this.#lostSpans, 'span was', 'spans were')
      this.#log.warning(`The collector accepts spans again; ${lost} lost`)
    }
    this.#lostSpans = 0
    this.#quietUntilMs = performance.now() + calmMs
  }
}

/** Adds the code, which is the status of the collector. */
function toExportReason(error: Error | undefined): string {
  if (error === undefined) return 'no reason given'
  const message = toMessage(error)
  const code = toCode(error)
  return message.includes(code) ? message : `${code} ${message}`
}
