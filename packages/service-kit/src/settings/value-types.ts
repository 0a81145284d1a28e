import { type DurationOptions, parseDuration } from './duration.ts'

/** How the text of a variable is parsed to a value. */
export interface ValueType<Value> {
  /** The name for tables, such as `duration`. */
  readonly name: string
  /** The allowed values, in a form that completes the sentence "must be …". */
  readonly allowed: string
  /** Whether an empty text is a value. For other types it counts as not set. */
  readonly takesEmpty: boolean
  /** Returns undefined if the text is not allowed. */
  parse(text: string): Value | undefined
  /** Formats the value as a user would write it. */
  toText(value: Value): string
}

export interface Range {
  readonly min?: number
  readonly max?: number
}

export interface ChoiceOptions<Choice extends string> {
  /** Alternative spellings of a choice, in lower case. Choices are case-insensitive. */
  readonly spellings?: Readonly<Record<string, Choice>>
}

const truths: Readonly<Record<string, boolean>> = {
  1: true,
  t: true,
  T: true,
  true: true,
  TRUE: true,
  True: true,
  0: false,
  f: false,
  F: false,
  false: false,
  FALSE: false,
  False: false,
}

/** The spellings of Go's `strconv.ParseBool`. */
export const booleanType: ValueType<boolean> = {
  name: 'boolean',
  allowed: 'true or false (or 1, 0, t, f)',
  takesEmpty: false,
  parse: (text) => (Object.hasOwn(truths, text.trim()) ? truths[text.trim()] : undefined),
  toText: String,
}

export const stringType: ValueType<string> = {
  name: 'string',
  allowed: 'a text',
  takesEmpty: true,
  parse: (text) => text,
  toText: String,
}

export const pathType: ValueType<string> = {
  ...stringType,
  name: 'path',
  allowed: 'the path of a file or folder, without a NUL character',
  parse: (text) => (text.includes('\0') ? undefined : text),
}

/** Decimal, `0x…`, `0o…`, `0b…`, and octal after a plain `0`, as in Go. */
export function integerType({ min = 0, max = Number.MAX_SAFE_INTEGER }: Range = {}) {
  return {
    name: 'integer',
    allowed: `a whole number ${toRangeText(min, max)}`,
    takesEmpty: false,
    parse(text) {
      const value = parseInteger(text.trim())
      return value !== undefined && value >= min && value <= max ? value : undefined
    },
    toText: String,
  } satisfies ValueType<number>
}

export const portType: ValueType<number> = {
  ...integerType({ max: 65_535 }),
  name: 'port',
}

export function numberType({ min = -Infinity, max = Infinity }: Range = {}): ValueType<number> {
  return {
    name: 'number',
    allowed: `a number ${toRangeText(min, max)}`.trim(),
    takesEmpty: false,
    parse(text) {
      const isNumber = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text.trim())
      const value = Number(text)
      return isNumber && value >= min && value <= max ? value : undefined
    },
    toText: String,
  }
}

/** In milliseconds. */
export function durationType(options: DurationOptions = {}): ValueType<number> {
  return {
    name: 'duration',
    allowed: options.bareSeconds
      ? 'a number of seconds, or a duration such as 300ms, 10s or 1h30m'
      : 'a duration such as 300ms, 10s or 1h30m',
    takesEmpty: false,
    parse: (text) => parseDuration(text.trim(), options),
    toText: (ms) => (ms === 0 ? '0' : `${ms}ms`),
  }
}

/** Separated by commas; spaces around the items and empty items are ignored. */
export const listType: ValueType<readonly string[]> = {
  name: 'list',
  allowed: 'items separated by commas',
  takesEmpty: true,
  parse: (text) => Object.freeze(toItems(text)),
  toText: (items) => items.join(','),
}

/**
 * `k1:v1,k2:v2`, each pair optionally in angle brackets. A pair is split at the first separator, so
 * values may contain it.
 */
export function mapType(separator: ':' | '=' = ':'): ValueType<ReadonlyMap<string, string>> {
  const example = `k1${separator}v1,k2${separator}v2`
  return {
    name: 'map',
    allowed: `pairs written ${example}, each with a name before the first "${separator}"`,
    takesEmpty: true,
    parse(text) {
      const pairs = toItems(text).map((item) => toPair(item.replace(/^<(.*)>$/s, '$1'), separator))
      return pairs.every((pair) => pair !== undefined) ? new Map(pairs) : undefined
    },
    toText: (map) => [...map].map((pair) => pair.join(separator)).join(','),
  }
}

export function choiceType<const Choice extends string>(
  choices: readonly Choice[],
  { spellings = {} }: ChoiceOptions<Choice> = {},
): ValueType<Choice> {
  const bySpelling = new Map<string, Choice>(Object.entries(spellings))
  for (const choice of choices) bySpelling.set(choice.toLowerCase(), choice)
  const shown = choices.map((choice) => {
    const others = Object.keys(spellings).filter((text) => spellings[text] === choice)
    return others.length === 0 ? choice : `${choice} (also ${others.join(', ')})`
  })
  return {
    name: shown.join(', '),
    allowed: `one of: ${shown.join(', ')}`,
    takesEmpty: false,
    parse: (text) => bySpelling.get(text.trim().toLowerCase()),
    toText: String,
  }
}

function parseInteger(text: string): number | undefined {
  const [, sign = '', digits = ''] = /^([+-]?)(.+)$/.exec(text) ?? []
  const octal = /^0[0-7]+$/.test(digits) ? `0o${digits}` : digits
  const isInteger = /^(?:0|[1-9]\d*|0[xX][\da-fA-F]+|0[oO][0-7]+|0[bB][01]+)$/.test(octal)
  if (!isInteger) return undefined
  return sign === '-' ? 0 - Number(octal) : Number(octal)
}

function toRangeText(min: number, max: number): string {
  const hasMin = min !== -Infinity
  const hasMax = max !== Infinity && max !== Number.MAX_SAFE_INTEGER
  if (hasMin && hasMax) return `from ${min} to ${max}`
  if (hasMin) return `of at least ${min}`
  return hasMax ? `of at most ${max}` : ''
}

function toItems(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}

function toPair(item: string, separator: string): [string, string] | undefined {
  const at = item.indexOf(separator)
  const name = item.slice(0, Math.max(at, 0)).trim()
  return name === '' ? undefined : [name, item.slice(at + 1).trim()]
}
