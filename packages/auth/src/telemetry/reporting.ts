import { type DiagLogger, DiagLogLevel, diag } from '@opentelemetry/api'
import { type ExportResult, ExportResultCode, setGlobalErrorHandler } from '@opentelemetry/core'
import type { Log } from '@portcullis/service-kit/log'

/** A collector that was well for so long has earned another line when it is lost again. */
const calmMs = 60_000

/**
 * Says once that spans (or metrics) are lost, and once that they are not any more, however often
 * that changes.
 * @param what `Spans`, as a sentence begins.
 */
export function createReport(
  what: string,
  log: Log,
): (done: (result: ExportResult) => void) => (result: ExportResult) => void {
  let isLost = false
  let hasSaidSo = false
  let quietUntilMs = 0

  const lose = (error: Error | undefined): void => {
    if (isLost) return
    isLost = true
    hasSaidSo = performance.now() >= quietUntilMs
    if (!hasSaidSo) return
    log.warning(
      `${what} are lost: the collector did not take them (${toReason(error)}). ` +
        'Check the OTEL_EXPORTER_OTLP_ variables. Requests are answered all the same.',
    )
  }
  const find = (): void => {
    if (!isLost) return
    if (hasSaidSo) log.warning(`The collector takes ${what.toLowerCase()} again`)
    isLost = false
    quietUntilMs = performance.now() + calmMs
  }
  return (done) => (result) => {
    if (result.code === ExportResultCode.SUCCESS) find()
    else lose(result.error)
    done(result)
  }
}

/** The code is the status of the collector, or all that an error of several attempts has to say. */
function toReason(error: Error | undefined): string {
  if (error === undefined) return 'no reason given'
  const { message } = error
  const code = 'code' in error && error.code !== undefined ? String(error.code) : ''
  return message.includes(code) ? message || error.name : `${code} ${message}`.trimEnd()
}

/** How long the last spans and metrics may keep a server that stops. */
const flushTimeoutMs = 5_000

/** @param what `spans`; the log has it where the collector is too slow. */
export async function flushInTime(
  what: string,
  flush: Promise<void>,
  giveUp: AbortSignal,
  log: Log,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const expire = () => resolve(false)
  const finish = () => resolve(true)
  // Whoever sends them says it where that fails.
  flush.then(finish, finish)
  const timer = setTimeout(expire, flushTimeoutMs)
  if (giveUp.aborted) expire()
  giveUp.addEventListener('abort', expire, { once: true })
  const isDone = await promise
  clearTimeout(timer)
  giveUp.removeEventListener('abort', expire)
  if (!isDone) log.warning(`The last ${what} are lost: the collector did not take them in time`)
}

/** A collector that hangs must not keep us. */
export async function closeSoon(close: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, 500)
  close.then(resolve, () => resolve())
  await promise
  clearTimeout(timer)
}

const pauseMs = 60_000

/**
 * What OpenTelemetry has to say goes to our log, complaints only once a minute.
 * @param isVerbose DEBUG=true: it tells what it does as well.
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
  const tell = (message: string, ...details: readonly unknown[]): void =>
    log.info(() => `OpenTelemetry: ${toLine(message, details)}`)
  const logger: DiagLogger = { error: warn, warn, info: tell, debug: tell, verbose: tell }
  diag.setLogger(logger, {
    logLevel: isVerbose ? DiagLogLevel.ALL : DiagLogLevel.WARN,
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
