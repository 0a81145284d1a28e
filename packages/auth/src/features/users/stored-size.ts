import type { Json } from './metadata.ts'

/**
 * The bytes of JSON as PostgreSQL prints a `jsonb`: with a space after every comma and colon, and with
 * numbers written out. Statements measure with `octet_length`, and both must agree.
 */
export function countStoredBytes(json: Json): number {
  if (typeof json === 'number') return countDigits(json)
  if (typeof json !== 'object' || json === null) return Buffer.byteLength(JSON.stringify(json))
  const inner = Array.isArray(json)
    ? json.map(countStoredBytes)
    : Object.entries(json).map(
        ([key, value]) => countStoredBytes(key) + ': '.length + countStoredBytes(value),
      )
  const separators = Math.max(0, inner.length - 1) * ', '.length
  return inner.reduce((total, bytes) => total + bytes, '{}'.length + separators)
}

/** Of 1e21, which JavaScript writes with an exponent, PostgreSQL prints every zero. */
function countDigits(number: number): number {
  const text = `${number}`
  const [, sign = '', whole = '', rest = '', exponent = ''] =
    /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(text) ?? []
  if (exponent === '') return text.length
  const power = Number(exponent)
  return power > 0
    ? sign.length + whole.length + Math.max(power, rest.length)
    : sign.length + '0.'.length - power + rest.length
}
