import { type DiagLogger, DiagLogLevel, diag } from '@opentelemetry/api'
import { setGlobalErrorHandler } from '@opentelemetry/core'
import type { Log } from '@portcullis/service-kit/log'

const pauseMs = 60_000

/** What OpenTelemetry has to say goes to our log, and the same thing only once a minute. */
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
  // Batches that were not sent, which the exporter reports in better words.
  setGlobalErrorHandler((error) => log.debug(() => `Tracing: ${toText(error)}`))
}

function toText(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
