import type { ReadLine } from '../recorded-request.ts'
import { Mapping, type MappingSettings } from './mapping.ts'
import {
  checkOperator,
  FormatError,
  isSameValue,
  isTime,
  type Operator,
  parseTemplate,
  type TemplatePart,
} from './operators.ts'
import { createTimeParser } from './time-format.ts'

/** Envoy's default format. */
export const defaultFormat =
  '[%START_TIME%] "%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%" ' +
  '%RESPONSE_CODE% %RESPONSE_FLAGS% %BYTES_RECEIVED% %BYTES_SENT% %DURATION% ' +
  '%RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)% "%REQ(X-FORWARDED-FOR)%" "%REQ(USER-AGENT)%" ' +
  '"%REQ(X-REQUEST-ID)%" "%REQ(:AUTHORITY)%" "%UPSTREAM_HOST%"'

/** One operator and the text between it and the next. */
interface Segment {
  readonly operator: Operator
  /** Empty only at the end of the line. */
  readonly until: string
  /** The slot for its value; -1 if it is not needed. */
  slot: number
}

const timeSlot = 0

/** Reads the lines of an access log by the format in Envoy's configuration. */
export function createTextLogReader(format: string, settings: MappingSettings): ReadLine {
  const { prefix, segments } = compile(format)
  const time = segments.find(({ operator }) => isTime(operator))
  if (time === undefined) throw new FormatError('the format has no %START_TIME%', 1)
  time.slot = timeSlot
  const { name, argument, column } = time.operator
  const parseTime = createTimeParser(argument, column, name === 'START_TIME_LOCAL')
  let slots = 1
  const mapping = new Mapping(settings, (wanted) => {
    checkOperator(wanted)
    const segment = findSegment(segments, wanted)
    if (segment.slot === -1) segment.slot = slots++
    return segment.slot
  })
  const fields: (string | undefined)[] = Array.from({ length: slots }, () => undefined)

  return (line) => {
    if (!line.startsWith(prefix)) return toMismatch(line, 0, prefix, undefined)
    let at = prefix.length
    for (let i = 0; i < segments.length; i += 1) {
      const segment = segments[i]
      if (segment === undefined) break
      const { until, slot } = segment
      const end = until === '' ? line.length : line.indexOf(until, at)
      if (end === -1) return toMismatch(line, at, until, segment.operator)
      if (slot !== -1) fields[slot] = toValue(line, at, end)
      at = end + until.length
    }
    if (at !== line.length)
      return `column ${at + 1}: the line continues after the end of the format`
    const text = fields[timeSlot]
    const timeMs = text === undefined ? undefined : parseTime(text)
    if (timeMs === undefined) return `${time.operator.text} is not a time: ${quote(text ?? '-')}`
    return mapping.toRequest(timeMs, fields)
  }
}

/** Envoy writes a dash for a missing value. */
function toValue(line: string, start: number, end: number): string | undefined {
  if (end === start || (end === start + 1 && line[start] === '-')) return undefined
  return line.slice(start, end)
}

function compile(format: string): { prefix: string; segments: Segment[] } {
  // The line break at the end is often written as a backslash and an n.
  const parts = parseTemplate(format.replace(/(?:\\n|\r?\n)+$/, ''))
  const segments: Segment[] = []
  for (const [index, part] of parts.entries()) {
    if (typeof part === 'string') continue
    checkOperator(part)
    const next = parts[index + 1]
    if (next !== undefined && typeof next !== 'string') {
      throw new FormatError(
        `there is no text between ${part.text} and ${next.text}, so their values cannot be separated`,
        next.column,
      )
    }
    segments.push({ operator: part, until: next ?? '', slot: -1 })
  }
  return { prefix: toPrefix(parts[0]), segments }
}

function toPrefix(first: TemplatePart | undefined): string {
  return typeof first === 'string' ? first : ''
}

function findSegment(segments: readonly Segment[], wanted: Operator): Segment {
  const found =
    segments.find(({ operator }) => operator.text === wanted.text) ??
    segments.find(({ operator }) => isSameValue(operator, wanted))
  if (found !== undefined) return found
  const known = segments.map(({ operator }) => operator.text).join(' ')
  throw new FormatError(
    `${wanted.text} is not in the format of the log, which has ${known}`,
    wanted.column,
  )
}

function toMismatch(line: string, at: number, text: string, after: Operator | undefined): string {
  if (line.startsWith('{'))
    return 'the line is JSON: use --format json, or --format with the json_format itself'
  const place = after === undefined ? 'at the start' : `after the value of ${after.text}`
  return `column ${at + 1}: expected ${quote(text)} ${place}`
}

function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)
}
