/**
 * A YAML document in the form rules are read from: scalars keep their text, aliases are shared
 * nodes without cycles, merge keys and repeated keys are already settled.
 */
export type YamlNode = YamlScalar | YamlList | YamlMap

export interface YamlScalar {
  readonly kind: 'scalar'
  readonly text: string
  readonly type: ScalarType
  /** Where it stands in the text, from 0. */
  readonly offset: number
}

export interface YamlList {
  readonly kind: 'list'
  readonly items: readonly YamlNode[]
  readonly offset: number
}

export interface YamlMap {
  readonly kind: 'map'
  readonly entries: readonly YamlEntry[]
  readonly offset: number
}

export interface YamlEntry {
  readonly name: string
  /** What the name would be as a value: `1: x` has an integer as its key. */
  readonly nameType: ScalarType
  readonly offset: number
  readonly value: YamlNode
}

/** What one file holds. Without a root there are faults. */
export interface YamlDocument {
  readonly root: YamlNode | undefined
  readonly faults: readonly YamlNote[]
  readonly warnings: readonly YamlNote[]
}

export interface YamlNote {
  readonly offset: number
  readonly message: string
}

/** A value as Go prints it, which is how the messages of reference 3.4 show it. */
export function toGoText(node: YamlNode, mostLetters = 200): string {
  if (node.kind === 'scalar') return goScalars[node.type](node.text)
  let text = node.kind === 'list' ? '[' : 'map['
  let separator = ''
  const add = (name: string, value: YamlNode): boolean => {
    const room = mostLetters - text.length
    if (room < 0) return false
    text += separator + name + toGoText(value, room)
    separator = ' '
    return true
  }
  const isWhole =
    node.kind === 'list'
      ? node.items.every((item) => add('', item))
      : node.entries.every((entry) => add(`${entry.name}:`, entry.value))
  return isWhole ? `${text}]` : `${text} …]`
}

const goScalars: Record<ScalarType, (text: string) => string> = {
  string: (text) => text,
  integer: (text) => String(toNumber(text)),
  float: (text) => String(toNumber(text)).replace('Infinity', 'Inf').replace(/^Inf/, '+Inf'),
  boolean: (text) => String(toBoolean(text)),
  null: () => '<nil>',
}

/** `float` stands for every number that is no 64 bit integer. */
export type ScalarType = 'string' | 'integer' | 'float' | 'boolean' | 'null'

/**
 * What plain, untagged text means. The rules of YAML 1.1 as the Go library reads them, by which
 * existing rule files are written (reference 3.3): no numbers of base 60, dates are text.
 */
export function toScalarType(text: string): ScalarType {
  const first = text === '' ? letter : starts[text.charCodeAt(0)]
  if (first === undefined || first === never) return 'string'
  const word = words.get(text)
  if (word !== undefined) return word
  if (first === letter) return 'string'
  if (first === digit && decimal.test(text)) return 'integer'
  return toNumberType(text)
}

export function toBoolean(text: string): boolean {
  return truths.includes(text)
}

/** Text of type integer or float. Integers beyond 2^53 lose digits, as in a protobuf Struct. */
export function toNumber(text: string): number {
  const special = specials.get(text)
  if (special !== undefined) return special
  const plain = text.replaceAll('_', '')
  const isNegative = plain.startsWith('-')
  const digits = isNegative || plain.startsWith('+') ? plain.slice(1) : plain
  const value = octal.test(digits) ? Number(`0o${digits}`) : Number(digits)
  return isNegative ? 0 - value : value
}

const never = 0
const letter = 1
const digit = 2
const other = 3

/** What the first character allows, so that most text needs no further look. */
const starts: number[] = new Array(128).fill(never)
for (const character of 'yYnNtTfFoO~') starts[character.charCodeAt(0)] = letter
for (const character of '0123456789') starts[character.charCodeAt(0)] = digit
for (const character of '+-.') starts[character.charCodeAt(0)] = other

const truths = ['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON']
const lies = ['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF']
const nothings = ['', '~', 'null', 'Null', 'NULL']
const specials = new Map<string, number>()
for (const name of ['inf', 'Inf', 'INF']) {
  specials.set(`.${name}`, Infinity).set(`+.${name}`, Infinity).set(`-.${name}`, -Infinity)
}
for (const name of ['nan', 'NaN', 'NAN']) specials.set(`.${name}`, Number.NaN)

const words = new Map<string, ScalarType>()
for (const word of truths) words.set(word, 'boolean')
for (const word of lies) words.set(word, 'boolean')
for (const word of nothings) words.set(word, 'null')
for (const word of specials.keys()) words.set(word, 'float')

/** Few enough digits to be exact; anything longer takes the careful way. */
const decimal = /^(?:0|[1-9][0-9]{0,14})$/
const integer = /^[-+]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO][0-7]+|0[0-7]*|[1-9][0-9]*)$/
const octal = /^0[0-7]+$/
const float = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/

function toNumberType(text: string): ScalarType {
  // Go strips the underscores of anything that starts with a digit or a sign.
  const plain = text.startsWith('.') ? text : text.replaceAll('_', '')
  if (integer.test(plain)) {
    const value = toBigInt(plain)
    if (value >= -(2n ** 63n) && value < 2n ** 63n) return 'integer'
    if (value > 0n && value < 2n ** 64n) return 'float'
  }
  return float.test(plain) && Number.isFinite(Number(plain)) ? 'float' : 'string'
}

function toBigInt(plain: string): bigint {
  const digits = plain.replace(/^[-+]/, '')
  const value = BigInt(octal.test(digits) ? `0o${digits.slice(1)}` : digits)
  return plain.startsWith('-') ? -value : value
}
