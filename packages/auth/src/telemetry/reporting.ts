import { type ExportResult, ExportResultCode } from '@opentelemetry/core'
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
