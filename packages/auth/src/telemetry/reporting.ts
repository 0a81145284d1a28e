import { type DiagLogger, DiagLogLevel, diag } from '@opentelemetry/api'
import { type ExportResult, ExportResultCode, setGlobalErrorHandler } from '@opentelemetry/core'
import type { Log } from '@portcullis/service-kit/log/log'
import { toCode, toMessage } from '@portcullis/service-kit/text/reason'

/** After this time without failures, a new failure is logged again. */
const calmMs = 60_000

/**
 * Logs when spans (or metrics) start to be lost, and when they are accepted again. Failures soon
 * after a recovery are not logged, so that an unstable collector does not fill the log.
 * @param what `Spans`, as the start of a sentence.
 */
export function createReport(
  what: string,
  log: Log,
): (done: (result: ExportResult) => void) => (result: ExportResult) => void {
  let isLost = false
  let isLogged = false
  let quietUntilMs = 0

  const lose = (error: Error | undefined): void => {
    if (isLost) return
    isLost = true
    isLogged = performance.now() >= quietUntilMs
    if (!isLogged) return
    log.warning(
      `${what} are lost: the collector did not accept them (${toExportReason(error)}). ` +
        'Check the OTEL_EXPORTER_OTLP_ variables. Requests are not affected.',
    )
  }
  const recover = (): void => {
    if (!isLost) return
    if (isLogged) log.warning(`The collector accepts ${what.toLowerCase()} again`)
    isLost = false
    quietUntilMs = performance.now() + calmMs
  }
  return (done) => (result) => {
    if (result.code === ExportResultCode.SUCCESS) recover()
    else lose(result.error)
    done(result)
  }
}

/** Adds the code, which is the status of the collector. */
function toExportReason(error: Error | undefined): string {
  if (error === undefined) return 'no reason given'
  const message = toMessage(error)
  const code = toCode(error)
  return message.includes(code) ? message : `${code} ${message}`
}

/** How long a shutdown waits for the last spans and metrics to be sent. */
const flushTimeoutMs = 5_000

/** @param what `spans`, for the warning if the collector is too slow. */
export async function flushInTime(
  what: string,
  flush: Promise<void>,
  giveUp: AbortSignal,
  log: Log,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const expire = () => resolve(false)
  const finish = () => resolve(true)
  // `createReport` logs failures.
  flush.then(finish, finish)
  const timer = setTimeout(expire, flushTimeoutMs)
  if (giveUp.aborted) expire()
  giveUp.addEventListener('abort', expire, { once: true })
  const isDone = await promise
  clearTimeout(timer)
  giveUp.removeEventListener('abort', expire)
  if (!isDone) log.warning(`The last ${what} are lost: the collector did not accept them in time`)
}

/** A collector that does not respond must not delay the shutdown. */
export async function closeSoon(close: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, 500)
  close.then(resolve, () => resolve())
  await promise
  clearTimeout(timer)
}

const pauseMs = 60_000

/**
 * Writes diagnostics of OpenTelemetry to our log; each kind of warning at most once a minute.
 * @param isVerbose DEBUG=true: informational messages are logged as well.
 */
export function logDiagnostics(log: Log, isVerbose: boolean): void {
  const quietUntilMs = new Map<string, number>()
  const warn = (message: string, ...details: readonly unknown[]): void => {
    const kind = message.replaceAll(/\d+/g, '')
    const nowMs = performance.now()
    if (nowMs < (quietUntilMs.get(kind) ?? 0)) return
    quietUntilMs.set(kind, nowMs + pauseMs)
    log.warning(`OpenTelemetry: ${toLine(message, details)}`)
  }
  const logInfo = (message: string, ...details: readonly unknown[]): void =>
    log.info(() => `OpenTelemetry: ${toLine(message, details)}`)
  const logger: DiagLogger = { error: warn, warn, info: logInfo, debug: logInfo, verbose: logInfo }
  diag.setLogger(logger, {
    logLevel: isVerbose ? DiagLogLevel.ALL : DiagLogLevel.WARN,
    suppressOverrideMessage: true,
  })
  // This handler gets failed batches, which `createReport` logs more clearly.
  setGlobalErrorHandler((error) => log.debug(() => `OpenTelemetry: ${toMessage(error)}`))
}

/** Objects are omitted because they contain whole spans and headers for the collector. */
function toLine(message: string, details: readonly unknown[]): string {
  return [message, ...details.filter((detail) => typeof detail === 'string')].join(' ')
}
