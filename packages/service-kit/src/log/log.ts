/**
 * From the most severe to the most verbose. A log writes its own level and all levels before it.
 */
export const logLevels = ['panic', 'fatal', 'error', 'warning', 'info', 'debug', 'trace'] as const
export type LogLevel = (typeof logLevels)[number]

export const logFormats = ['text', 'json'] as const
export type LogFormat = (typeof logFormats)[number]

/** `logrus` is JSON with the field names of logrus: `level`, `msg`, `time`. */
export type LineFormat = LogFormat | 'logrus'

/**
 * A text, or a function that creates it: an expensive message is only created when it is written.
 */
export type LogMessage = string | (() => string)

export interface Log {
  fatal(message: LogMessage): void
  error(message: LogMessage): void
  warning(message: LogMessage): void
  info(message: LogMessage): void
  debug(message: LogMessage): void
  trace(message: LogMessage): void
  /** For code that does extra work only for a log line. */
  isEnabled(level: LogLevel): boolean
}

export type LogFields = Readonly<Record<string, unknown>>

/** A log that can also write lines with additional fields, for log collectors. */
export interface EventLog extends Log {
  /** @param fields undefined values are left out. */
  event(level: LogLevel, message: string, fields: LogFields): void
}

export interface LogSettings {
  readonly level: LogLevel
  readonly format: LineFormat
  /** Called with whole lines. */
  readonly write: (line: string) => void
}

export function createLog({ level, format, write }: LogSettings): EventLog {
  const threshold = logLevels.indexOf(level)
  const isEnabled = (messageLevel: LogLevel) => logLevels.indexOf(messageLevel) <= threshold
  const toLine = lineFormats[format]
  const now = createClock()
  const at = (lineLevel: LogLevel) => {
    if (!isEnabled(lineLevel)) return ignore
    return (message: LogMessage) =>
      write(toLine(now(), lineLevel, typeof message === 'string' ? message : message()))
  }
  return {
    fatal: at('fatal'),
    error: at('error'),
    warning: at('warning'),
    info: at('info'),
    debug: at('debug'),
    trace: at('trace'),
    isEnabled,
    event(lineLevel, message, fields) {
      if (isEnabled(lineLevel)) write(toLine(now(), lineLevel, message, fields))
    },
  }
}

function ignore(): void {}

/** For messages that bypass a log, such as the report of dropped lines. */
export function toLogLine(format: LineFormat, level: LogLevel, message: string): string {
  return lineFormats[format](Date.now(), level, message)
}

type ToLine = (nowMs: number, level: LogLevel, message: string, fields?: LogFields) => string

/** The line formats of logrus, which operators and log collectors know. */
const lineFormats: Readonly<Record<LineFormat, ToLine>> = {
  text: (nowMs, level, message, fields) =>
    `time="${toSeconds(nowMs)}Z" level=${level} msg=${quoteWhereNeeded(message)}${toTextFields(fields)}\n`,
  json: (nowMs, level, message, fields) =>
    `{"@message":${quoteJson(message)},"@timestamp":"${toNanoseconds(nowMs)}","level":"${level}"${toJsonFields(fields)}}\n`,
  logrus: (nowMs, level, message, fields) =>
    `{"level":"${level}","msg":${quoteJson(message)},"time":"${toNanoseconds(nowMs)}"${toJsonFields(fields)}}\n`,
}

function toTextFields(fields: LogFields = {}): string {
  return Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => {
      const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
      return ` ${name}=${quoteWhereNeeded(text)}`
    })
    .join('')
}

function toJsonFields(fields: LogFields | undefined): string {
  const text = fields === undefined ? '{}' : quoteJson(fields)
  return text === '{}' ? '' : `,${text.slice(1, -1)}`
}

function toSeconds(nowMs: number): string {
  return new Date(nowMs).toISOString().slice(0, 19)
}

function toNanoseconds(nowMs: number): string {
  const belowMs = Math.floor((nowMs - Math.floor(nowMs)) * 1e6)
  return `${new Date(nowMs).toISOString().slice(0, 23)}${String(belowMs).padStart(6, '0')}Z`
}

/** The system time with sub-millisecond digits, so that lines keep their order. */
function createClock(): () => number {
  let originMs = Date.now() - performance.now()
  return () => {
    const nowMs = originMs + performance.now()
    const systemMs = Date.now()
    // The system clock may be changed while the process runs.
    if (Math.abs(nowMs - systemMs) <= 2) return nowMs
    originMs = systemMs - performance.now()
    return systemMs
  }
}

function quoteWhereNeeded(message: string): string {
  return /^[\w\-./@^+]+$/.test(message) ? message : quoteText(message)
}

const goEscapes: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
}

/**
 * Messages may contain text from a caller, so characters that control terminals or log collectors
 * are escaped.
 */
const textSpecials = /["\\\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u202a-\u202e\u2066-\u2069]/gu
const plainText = /^[ -~]*$/
const jsonSpecials = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu

function quoteText(message: string): string {
  const escaped = message.replace(textSpecials, (character) => {
    const code = character.charCodeAt(0)
    return goEscapes[character] ?? (code < 0x80 ? toHex('\\x', code, 2) : toHex('\\u', code, 4))
  })
  return `"${escaped}"`
}

function quoteJson(value: string | LogFields): string {
  const text = JSON.stringify(value)
  // Nearly all messages are plain, and this check is much faster than the search for special
  // characters.
  if (plainText.test(text)) return text
  return text.replace(jsonSpecials, (character) => toHex('\\u', character.charCodeAt(0), 4))
}

function toHex(prefix: string, code: number, digits: number): string {
  return prefix + code.toString(16).padStart(digits, '0')
}
