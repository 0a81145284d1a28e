import { parseArgs } from 'node:util'
import { parseDuration } from '@portcullis/service-kit/duration'
import {
  createDictionaryLogReader,
  createJsonLogReader,
} from '../tools/replay/access-log/json-log.ts'
import { FormatError } from '../tools/replay/access-log/template.ts'
import { createTextLogReader, defaultFormat } from '../tools/replay/access-log/text-log.ts'
import type { ReadLine } from '../tools/replay/recorded-request.ts'
import { createRequestLineReader } from '../tools/replay/request-lines.ts'

export interface ReplayRequest {
  readonly rules: string
  readonly compareWith: string | undefined
  readonly logs: readonly string[]
  readonly readLine: ReadLine
  readonly reorderMs: number
  readonly top: number
  readonly chart: string | undefined
  readonly strict: boolean
  readonly merge: boolean
  readonly all: boolean
  readonly json: boolean
}

const options = {
  domain: { type: 'string' },
  descriptor: { type: 'string', multiple: true },
  format: { type: 'string' },
  hits: { type: 'string' },
  'strip-query': { type: 'boolean' },
  'time-field': { type: 'string' },
  'domain-field': { type: 'string' },
  'descriptors-field': { type: 'string' },
  'hits-field': { type: 'string' },
  reorder: { type: 'string' },
  compare: { type: 'string' },
  chart: { type: 'string' },
  top: { type: 'string' },
  strict: { type: 'boolean' },
  merge: { type: 'boolean' },
  all: { type: 'boolean' },
  json: { type: 'boolean' },
} as const

type Values = ReturnType<typeof parse>['values']

function parse(args: readonly string[]) {
  return parseArgs({ args: [...args], options, allowPositionals: true })
}

/** A text is what is wrong with the arguments. */
export function parseReplayArguments(args: readonly string[]): ReplayRequest | string {
  let parsed: ReturnType<typeof parse>
  try {
    parsed = parse(args)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  const { values, positionals } = parsed
  const [rules, ...logs] = positionals
  if (rules === undefined) return 'the rules are missing: a directory, or a file'
  if (logs.length === 0) return 'the log is missing: a file, or - for standard input'
  if (logs.filter((log) => log === '-').length > 1) return 'standard input can be read only once'

  const reorderMs = parseDuration(values.reorder ?? '10s', { bareSeconds: true })
  if (reorderMs === undefined)
    return `--reorder ${values.reorder}: a duration such as 10s is expected`
  const top = values.top ?? '10'
  if (!/^\d{1,6}$/.test(top)) return `--top ${top}: a number is expected`
  const readLine = toReader(values)
  if (typeof readLine === 'string') return readLine
  return {
    rules,
    compareWith: values.compare,
    logs,
    readLine,
    reorderMs,
    top: Number(top),
    chart: values.chart,
    strict: values.strict ?? false,
    merge: values.merge ?? false,
    all: values.all ?? false,
    json: values.json ?? false,
  }
}

function toReader(values: Values): ReadLine | string {
  const { descriptor: descriptors } = values
  if (descriptors === undefined) return toRequestReader(values)
  const { domain, format, hits } = values
  if (domain === undefined || domain === '') return '--descriptor needs --domain'
  const unused = (['domain-field', 'descriptors-field', 'hits-field'] as const).find(
    (name) => values[name] !== undefined,
  )
  if (unused !== undefined) return `--${unused} is not used together with --descriptor`
  const mapping = { domain, descriptors, hits, stripsQuery: values['strip-query'] ?? false }
  const settings = { ...mapping, timeField: values['time-field'] }
  const isDictionary = format?.trimStart().startsWith('{') === true
  const isText = format !== 'json' && !isDictionary
  if (isText && settings.timeField !== undefined) {
    return '--time-field is for logs in JSON; the format of a text has its time as %START_TIME%'
  }
  // What is wrong with the format must not be told as if it were the descriptor's fault.
  const probe = { ...settings, descriptors: [], hits: undefined }
  const create = (of: typeof settings): ReadLine => {
    if (format === 'json') return createJsonLogReader(of)
    if (isDictionary) return createDictionaryLogReader(format ?? '', of)
    return createTextLogReader(
      format === undefined || format === 'default' ? defaultFormat : format,
      of,
    )
  }
  const fault =
    findFault('--format', format ?? '', () => create(probe)) ??
    firstOf(descriptors, (text) =>
      findFault('--descriptor', text, () => create({ ...probe, descriptors: [text] })),
    ) ??
    (hits === undefined ? undefined : findFault('--hits', hits, () => create({ ...probe, hits })))
  return fault ?? create(settings)
}

function toRequestReader(values: Values): ReadLine | string {
  const unused = (['format', 'hits', 'strip-query'] as const).find(
    (name) => values[name] !== undefined,
  )
  if (unused !== undefined) return `--${unused} needs at least one --descriptor`
  return createRequestLineReader({
    timeField: values['time-field'] ?? 'time',
    domainField: values['domain-field'] ?? 'domain',
    descriptorsField: values['descriptors-field'] ?? 'descriptors',
    hitsField: values['hits-field'] ?? 'hitsAddend',
    domain: values.domain,
  })
}

function firstOf(
  texts: readonly string[],
  find: (text: string) => string | undefined,
): string | undefined {
  for (const text of texts) {
    const found = find(text)
    if (found !== undefined) return found
  }
  return undefined
}

/** With the text and a mark below the column that is meant. */
function findFault(option: string, text: string, attempt: () => unknown): string | undefined {
  try {
    attempt()
    return undefined
  } catch (error) {
    if (!(error instanceof FormatError)) throw error
    const { column, message } = error
    return `${option}, column ${column}: ${message}\n  ${text}\n  ${' '.repeat(column - 1)}^`
  }
}
