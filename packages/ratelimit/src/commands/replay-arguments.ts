import { parseArgs } from 'node:util'
import { parseDuration } from '@portcullis/service-kit/duration'
import {
  createDictionaryLogReader,
  createJsonLogReader,
} from '../tools/replay/access-log/json-log.ts'
import { FormatError } from '../tools/replay/access-log/operators.ts'
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

export const usage = `Usage: ratelimit replay RULES LOG [LOG…] [OPTION…]

Shows what a rule set would have refused: feeds recorded requests through the rules at the times
they were made, and counts per rule. RULES is a directory of *.yaml files, or one file. LOG is a
file, or - for standard input; gzip and Zstandard are recognised. Several logs are read one after
the other, as if they were one.

Without --descriptor, a line of the log is a request for a decision:

  {"time": "2026-01-01T00:00:00.123Z", "domain": "api", "descriptors": [{"path": "/", "user": "7"}]}

The time may also be a number: seconds, milliseconds, microseconds or nanoseconds since 1970.
Descriptors may be written as for /json, with entries, limit and hitsAddend.

  --domain NAME             the domain of lines that name none
  --time-field NAME         where the time is, instead of time; a.b is b inside of a
  --domain-field NAME       instead of domain
  --descriptors-field NAME  instead of descriptors
  --hits-field NAME         instead of hitsAddend

With --descriptor, it is an access log, and the descriptors are made of its fields:

  --domain NAME             the domain of all requests
  --descriptor ENTRIES      one descriptor, KEY=VALUE[,KEY=VALUE…]; may be repeated. A value is text
                            with operators in it, as in path=%REQ(:PATH)%,user=%REQ(X-USER)%
                            A line without one of the values (-) gets no such descriptor, and one
                            without any descriptor is no request, as in Envoy
  --format FORMAT           default  what Envoy writes unless told otherwise
                            TEXT     the format string of Envoy's configuration
                            {…}      its json_format; values are named by operators all the same
                            json     any JSON lines; values are named by fields, as in path=%url.path%
  --time-field NAME         the field with the time, for JSON
  --hits VALUE              how many hits a request counts for, such as %BYTES_SENT%
  --strip-query             paths end at their question mark

  --reorder DURATION        how late a request may stand in the log (10s): it is written when a
                            request ends. Those still later are counted, and decided late
  --merge                   several files may define one domain (or MERGE_DOMAIN_CONFIG=true)
  --compare RULES           the same log through other rules too, and what differs per rule
  --strict                  a line that cannot be read is a failure; without it they are counted,
                            and the first ones shown

  --top N                   how many of the keys refused most often are shown (10)
  --all                     all rules, also those that refused nothing or met no request
  --json                    one JSON object instead of a table
  --chart FILE.svg          also draws requests over time, allowed and refused, into a file

Columns: allowed, near (allowed, but near the limit), refused and shadow (over the limit, but let
through by shadow or quota mode) count requests. peak is the most hits that one key had in one
window, and how many times the limit that is; a sliding window and
STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT do not count what they refuse. Times are UTC.

The environment counts as for serve: SHADOW_MODE, QUOTA_MODE, NEAR_LIMIT_RATIO, CACHE_KEY_PREFIX,
STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT, MERGE_DOMAIN_CONFIG, MEMORY_STORE_MAX_BYTES.
Ctrl-C ends the replay and reports what was read so far.
Exit code: 0 done, 1 faults in the rules, a log that breaks off, or with --strict a line that cannot
be read, 2 wrong usage or files that are not there, 130 ended by Ctrl-C.

Examples:
  ratelimit replay config requests.jsonl.gz --chart refused.svg
  zcat access.log.*.gz | ratelimit replay config - --domain api \\
    --descriptor 'remote_address=%REQ(X-FORWARDED-FOR)%' --descriptor 'path=%REQ(:PATH)%' --strip-query
  ratelimit replay config access.json --compare config.new --format json --time-field start_time \\
    --domain api --descriptor 'path=%path%,user=%user_id%'

Envoy's default format:
  ${defaultFormat.replaceAll(/ (?=%RESPONSE_CODE%|%RESP\(|"%REQ\(X-REQ)/g, '\n  ')}
`
