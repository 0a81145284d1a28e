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
