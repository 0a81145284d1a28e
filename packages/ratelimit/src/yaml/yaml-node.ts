/**
 * A YAML document in the form that rules and mappings are parsed from: scalars keep their text, aliases are
 * shared nodes without cycles, and merge keys and repeated keys are already resolved.
 */
export type YamlNode = YamlScalar | YamlList | YamlMap

export interface YamlScalar {
  readonly kind: 'scalar'
  readonly text: string
  readonly type: ScalarType
  /** The offset in the text, from 0. */
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
  /** The type of the name if it were a value: `1: x` has an integer as its key. */
  readonly nameType: ScalarType
  readonly offset: number
  readonly value: YamlNode
}

/** The content of one file. Without a root there are faults. */
export interface YamlDocument {
  readonly root: YamlNode | undefined
  readonly faults: readonly YamlNote[]
  readonly warnings: readonly YamlNote[]
}

export interface YamlNote {
  readonly offset: number
  readonly message: string
}

/** Formats a value like Go, as in the messages of envoyproxy/ratelimit. */
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
  const isComplete =
    node.kind === 'list'
      ? node.items.every((item) => add('', item))
      : node.entries.every((entry) => add(`${entry.name}:`, entry.value))
  return isComplete ? `${text}]` : `${text} …]`
}

const goScalars: Record<ScalarType, (text: string) => string> = {
  string: (text) => text,
  integer: (text) => String(toNumber(text)),
  float: (text) => String(toNumber(text)).replace('Infinity', 'Inf').replace(/^Inf/, '+Inf'),
  boolean: (text) => String(toBoolean(text)),
  null: () => '<nil>',
}

/** `float` is every number that is not a 64-bit integer. */
export type ScalarType = 'string' | 'integer' | 'float' | 'boolean' | 'null'

/**
 * The type of plain, untagged text, by the rules of YAML 1.1 as implemented in the Go library, for which
 * existing rule files were written: there are no base-60 numbers, and dates are text.
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

/** Converts text of type integer or float. Integers above 2^53 lose digits, as in a protobuf Struct. */
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

/** The types that are possible after the first character, so that most text needs no further check. */
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

/** Few enough digits to be exact; longer numbers take the slow path. */
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
