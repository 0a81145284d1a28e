import { parseArgs } from 'node:util'
import { parseOrExplain, toValueFault } from '@portcullis/service-kit/cli/argument-faults'
import { parseDuration } from '@portcullis/service-kit/settings/duration'
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
  /** Whether descriptors are built from the fields of an access log. */
  readonly isAccessLog: boolean
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

/** Returns a string for an error. */
export function parseReplayArguments(args: readonly string[]): ReplayRequest | string {
  const parsed = parseOrExplain(() => parse(args))
  if (typeof parsed === 'string') return parsed
  const { values, positionals } = parsed
  const [rules, ...logs] = positionals
  if (rules === undefined) return 'The rules are missing: pass a folder or a file.'
  if (logs.length === 0) return 'The log is missing: pass a file, or - for standard input.'
  if (logs.filter((log) => log === '-').length > 1) return 'Standard input can be read only once.'

  const reorderMs = parseDuration(values.reorder ?? '10s', { bareSeconds: true })
  if (reorderMs === undefined) {
    return toValueFault('--reorder', 'a duration such as 10s', values.reorder ?? '')
  }
  const top = values.top ?? '10'
  if (!/^\d{1,6}$/.test(top)) return toValueFault('--top', 'a whole number', top)
  const readLine = toReader(values)
  if (typeof readLine === 'string') return readLine
  return {
    rules,
    compareWith: values.compare,
    logs,
    readLine,
    isAccessLog: values.descriptor !== undefined,
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
  if (domain === undefined || domain === '') return '--descriptor needs --domain.'
  const unused = (['domain-field', 'descriptors-field', 'hits-field'] as const).find(
    (name) => values[name] !== undefined,
  )
  if (unused !== undefined) return `--${unused} cannot be used together with --descriptor.`
  const mapping = { domain, descriptors, hits, stripsQuery: values['strip-query'] ?? false }
  const settings = { ...mapping, timeField: values['time-field'] }
  const isDictionary = format?.trimStart().startsWith('{') === true
  const isText = format !== 'json' && !isDictionary
  if (isText && settings.timeField !== undefined) {
    return '--time-field is for JSON logs; the format of a text log contains the time as %START_TIME%.'
  }
  // An error in the format must not be reported as an error in a descriptor.
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
  if (unused !== undefined) return `--${unused} needs at least one --descriptor.`
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

/** Returns a message with the text and a mark below the column of the error. */
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

Shows what a set of rules would have refused: applies the rules to recorded
requests at the times they were made, and counts requests per rule. RULES is a
folder of *.yaml files, or one file. LOG is a file, or - for standard input;
gzip and Zstandard are recognized. Several logs are read one after the other, as
if they were one.

Without --descriptor, each line of the log is a rate limit request:

  {"time": 1767225600.123, "domain": "api", "descriptors": [{"user": "7"}]}

The time is a number of seconds, milliseconds, microseconds or nanoseconds since
1970, or text such as "2026-01-01T00:00:00.123Z". Descriptors may be written as
for /json, with entries, limit and hitsAddend.

Options for a log of rate limit requests:
  --domain NAME             the domain of lines without a domain
  --time-field NAME         the field with the time; default: time. a.b is the
                            field b of the object a
  --domain-field NAME       the field with the domain; default: domain
  --descriptors-field NAME  the field with the descriptors; default: descriptors
  --hits-field NAME         the field with the hits; default: hitsAddend

With --descriptor, the log is an access log, and descriptors are built from its
fields.

Options for an access log:
  --domain NAME             the domain of all requests
  --descriptor ENTRIES      one descriptor, KEY=VALUE[,KEY=VALUE…]; repeatable.
                            A value is text with operators, as in
                            path=%REQ(:PATH)%,user=%REQ(X-USER)%. As in Envoy, a
                            line that lacks one of the values (-) has no such
                            descriptor, and a line without any descriptor is
                            skipped
  --format FORMAT           default  Envoy's default format, shown below
                            TEXT     the format string of Envoy's configuration
                            {…}      its json_format; values are still operators
                            json     any JSON lines; values are field names, as
                                     in path=%url.path%
  --time-field NAME         the field with the time, for JSON logs
  --hits VALUE              the number of hits of a request, as in %BYTES_SENT%
  --strip-query             remove the query string from paths

Options for both:
  --reorder DURATION        how far requests may be out of order, since a line
                            is written when its request ends; default: 10s.
                            Requests that are further out of order are decided
                            at the current time of the replay, and reported as
                            late
  --merge                   allow several files to define one domain, as with
                            MERGE_DOMAIN_CONFIG=true
  --compare RULES           apply other rules too, and show the differences per
                            rule
  --strict                  fail if a line cannot be read; otherwise such lines
                            are counted, and the first ones are shown
  --top N                   how many of the most refused keys to show;
                            default: 10
  --all                     show all rules, including those that refused or
                            matched no request
  --json                    print one JSON object instead of a table
  --chart FILE.svg          also draw a chart of allowed and refused requests
                            over time

Columns: allowed, near (allowed, but near the limit), refused and shadow (over
the limit, but allowed by shadow or quota mode) count requests. peak is the
highest number of hits of one key in one window, also as a multiple of the
limit; a sliding window and STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT do not count
what they refuse. Times are UTC.

These variables have the same effect as for serve: SHADOW_MODE, QUOTA_MODE,
NEAR_LIMIT_RATIO, CACHE_KEY_PREFIX, STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT,
MERGE_DOMAIN_CONFIG, MEMORY_STORE_MAX_BYTES.

Ctrl-C ends the replay and shows the report of what was read so far.

Exit codes: 0 on success, 1 for errors in the rules, a truncated log, or with
--strict a line that cannot be read, 2 for invalid arguments or files that
cannot be read, 130 after Ctrl-C.

Examples:
  ratelimit replay config requests.jsonl.gz --chart refused.svg
  zcat access.log.*.gz | ratelimit replay config - --domain api \\
    --descriptor 'remote_address=%REQ(X-FORWARDED-FOR)%' \\
    --descriptor 'path=%REQ(:PATH)%' --strip-query
  ratelimit replay config access.json --compare config.new \\
    --format json --time-field start_time \\
    --domain api --descriptor 'path=%path%,user=%user_id%'

Envoy's default format:
  ${defaultFormat.replaceAll(/ (?=%RESPONSE_CODE%|%RESP\(|"%REQ\((?:USER|:AUTH))/g, '\n  ')}
`
