import { createLog, type Log, type LogMessage } from '@portcullis/service-kit/log/log'

/** Receives messages for the operator. `console`, pino and winston have this interface. */
export interface Logger {
  /** The service is degraded, for example because the store does not answer. */
  warn(message: string): void
  /** Something does not work. If it is missing, `warn` receives these messages too. */
  error?(message: string): void
}

/** @param log - receives formatted lines; used if there is no logger */
export function createLimiterLog(
  logger: Logger | false | undefined,
  log: ((line: string) => void) | undefined,
): Log {
  if (logger === undefined) {
    // `process` is not imported, because the import opens all standard streams, which takes longer than loading
    // the limiter.
    const write = log ?? ((line: string) => globalThis.process.stderr.write(line))
    return createLog({ level: 'warning', format: 'text', write })
  }
  const ignore = () => {}
  const warn = logger === false ? ignore : (message: LogMessage) => logger.warn(toText(message))
  const error =
    logger === false
      ? ignore
      : (message: LogMessage) => {
          if (logger.error === undefined) logger.warn(toText(message))
          else logger.error(toText(message))
        }
  return {
    fatal: error,
    error,
    warning: warn,
    info: ignore,
    debug: ignore,
    trace: ignore,
    isEnabled: (level) => level === 'error' || level === 'warning',
  }
}

function toText(message: LogMessage): string {
  return typeof message === 'string' ? message : message()
}
