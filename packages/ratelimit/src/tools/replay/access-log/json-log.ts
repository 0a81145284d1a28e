import {
  createMemberFinder,
  type FindMember,
  isRecord,
  parseRecord,
  toTimeReason,
} from '../json-member.ts'
import type { ReadLine } from '../recorded-request.ts'
import { parseTime } from '../time.ts'
import { Mapping, type MappingSettings } from './mapping.ts'
import {
  checkOperator,
  FormatError,
  isSameValue,
  isTime,
  type Operator,
  parseTemplate,
} from './operators.ts'
import { createTimeParser } from './time-format.ts'

/** A field that is read from each line. */
interface Field {
  readonly name: string
  readonly find: FindMember
}

export interface JsonLogSettings extends MappingSettings {
  /** The field with the time; undefined if the dictionary contains it. */
  readonly timeField: string | undefined
}

/** Reads JSON objects, one per line. Templates contain field names: `%path%`, `%request.user%`. */
export function createJsonLogReader(settings: JsonLogSettings): ReadLine {
  const name = settings.timeField ?? 'time'
  return createReader(settings, { name, parse: parseTime }, ({ name, argument }) =>
    argument === undefined ? name : `${name}(${argument})`,
  )
}

/**
 * Reads logs that Envoy writes with a `json_format`. Templates contain operators, as for text, and the
 * dictionary maps them to fields.
 */
export function createDictionaryLogReader(text: string, settings: JsonLogSettings): ReadLine {
  const logged = parseDictionary(text)
  const time = logged.find(({ operator }) => isTime(operator))
  const { timeField } = settings
  if (time === undefined && timeField === undefined) {
    throw new FormatError('the format has no %START_TIME%, and there is no --time-field', 1)
  }
  const parse =
    timeField !== undefined || time === undefined ? parseTime : toTimeParser(time.operator)
  const name = timeField ?? time?.name ?? ''
  return createReader(settings, { name, parse }, (wanted) => {
    checkOperator(wanted)
    const found =
      logged.find(({ operator }) => operator.text === wanted.text) ??
      logged.find(({ operator }) => isSameValue(operator, wanted))
    if (found !== undefined) return found.name
    const known = logged.map(({ operator }) => operator.text).join(' ')
    throw new FormatError(
      `${wanted.text} is not in the format of the log, which has ${known}`,
      wanted.column,
    )
  })
}

interface TimeField {
  readonly name: string
  readonly parse: (value: unknown) => number | undefined
}

function toTimeParser({ argument, column, name }: Operator): TimeField['parse'] {
  const parseText = createTimeParser(argument, column, name === 'START_TIME_LOCAL')
  return (value) => (typeof value === 'string' ? parseText(value) : parseTime(value))
}

function createReader(
  settings: MappingSettings,
  time: TimeField,
  toFieldName: (operator: Operator) => string,
): ReadLine {
  const wanted: Field[] = []
  const mapping = new Mapping(settings, (operator) => {
    const name = toFieldName(operator)
    const known = wanted.findIndex((field) => field.name === name)
    return known !== -1 ? known : wanted.push({ name, find: createMemberFinder(name) }) - 1
  })
  const fields: (string | undefined)[] = wanted.map(() => undefined)
  const findTime = createMemberFinder(time.name)

  return (line) => {
    const object = parseRecord(line)
    if (typeof object === 'string') return object
    const timeValue = findTime(object)
    const timeMs = time.parse(timeValue)
    if (timeMs === undefined) return toTimeReason(time.name, timeValue)
    for (let slot = 0; slot < wanted.length; slot += 1) {
      fields[slot] = toValue(wanted[slot]?.find(object))
    }
    return mapping.toRequest(timeMs, fields)
  }
}

/** Numbers and booleans keep their text. Envoy writes a dash for a missing value. */
function toValue(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '-' || value === '' ? undefined : value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
}

interface LoggedOperator {
  /** The name or path of its field. */
  readonly name: string
  readonly operator: Operator
}

function parseDictionary(text: string): LoggedOperator[] {
  const dictionary = parseRecord(text)
  if (typeof dictionary === 'string') throw new FormatError(dictionary, 1)
  const found = [...listOperators(dictionary, '')]
  for (const { operator } of found) {
    try {
      checkOperator(operator)
    } catch (error) {
      // The dictionary is JSON, so the column is found by searching for the text of the operator.
      if (!(error instanceof FormatError)) throw error
      throw new FormatError(error.message, text.indexOf(operator.text) + 1)
    }
  }
  return found
}

/** Values that contain more than one operator are omitted, because they cannot be separated. */
function* listOperators(
  dictionary: Readonly<Record<string, unknown>>,
  prefix: string,
): Generator<LoggedOperator> {
  for (const [key, value] of Object.entries(dictionary)) {
    if (isRecord(value)) yield* listOperators(value, `${prefix}${key}.`)
    if (typeof value !== 'string') continue
    const parts = parseTemplate(value)
    const [operator] = parts
    if (parts.length === 1 && typeof operator === 'object')
      yield { name: `${prefix}${key}`, operator }
  }
}
