import { type DiagLogger, DiagLogLevel, diag } from '@opentelemetry/api'
import { setGlobalErrorHandler } from '@opentelemetry/core'
import type { Log } from '@portcullis/service-kit/log'

const pauseMs = 60_000

/**
 * What OpenTelemetry has to say goes to our log, complaints only once a minute.
 * @param isTalkative DEBUG=true: it tells what it does as well.
 */
export function logDiagnostics(log: Log, isTalkative: boolean): void {
  const quietUntilMs = new Map<string, number>()
  const warn = (message: string, ...details: readonly unknown[]): void => {
    const kind = message.replaceAll(/\d+/g, '')
    const nowMs = performance.now()
    if (nowMs < (quietUntilMs.get(kind) ?? 0)) return
    quietUntilMs.set(kind, nowMs + pauseMs)
    log.warning(`OpenTelemetry: ${toLine(message, details)}`)
  }
  const tell = (message: string, ...details: readonly unknown[]): void =>
    log.info(() => `OpenTelemetry: ${toLine(message, details)}`)
  const logger: DiagLogger = { error: warn, warn, info: tell, debug: tell, verbose: tell }
  diag.setLogger(logger, {
    logLevel: isTalkative ? DiagLogLevel.ALL : DiagLogLevel.WARN,
    suppressOverrideMessage: true,
  })
  // Batches that were not sent, which the exporters report in better words.
  setGlobalErrorHandler((error) => log.debug(() => `OpenTelemetry: ${toText(error)}`))
}

/** Of objects only that they are there: they hold whole spans, and headers of the collector. */
function toLine(message: string, details: readonly unknown[]): string {
  return [message, ...details.filter((detail) => typeof detail === 'string')].join(' ')
}

function toText(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
