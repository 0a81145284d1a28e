import { isRecord, readField, toText } from './values.ts'

export interface TemplateFunction {
  /** The minimum and maximum number of operands. */
  readonly least: number
  readonly most: number
  readonly call: (...operands: readonly unknown[]) => unknown
}

const many = 20

/** evaluate.ts evaluates these functions, because `and` and `or` stop at the deciding operand. */
const notCalled = () => undefined

export const functions: Readonly<Record<string, TemplateFunction>> = {
  and: { least: 1, most: many, call: notCalled },
  or: { least: 1, most: many, call: notCalled },
  not: { least: 1, most: 1, call: notCalled },
  /** True if the first operand equals any of the others. */
  eq: { least: 2, most: many, call: (left, ...rest) => rest.some((right) => isEqual(left, right)) },
  ne: { least: 2, most: 2, call: (left, right) => !isEqual(left, right) },
  lt: { least: 2, most: 2, call: (left, right) => compare(left, right) < 0 },
  le: { least: 2, most: 2, call: (left, right) => compare(left, right) <= 0 },
  gt: { least: 2, most: 2, call: (left, right) => compare(left, right) > 0 },
  ge: { least: 2, most: 2, call: (left, right) => compare(left, right) >= 0 },
  len: { least: 1, most: 1, call: toLength },
  index: { least: 2, most: many, call: (value, ...keys) => keys.reduce(readIndex, value) },
  slice: { least: 1, most: 3, call: slice },
  print: { least: 0, most: many, call: (...operands) => operands.map(toText).join('') },
  urlquery: {
    least: 1,
    most: many,
    call: (...operands) => encodeURIComponent(operands.map(toText).join('').toWellFormed()),
  },
}

/** A missing value equals only an empty one. */
function isEqual(left: unknown, right: unknown): boolean {
  return (left ?? '') === (right ?? '')
}

/** NaN, so that every comparison is false, if the values cannot be ordered. */
function compare(left: unknown, right: unknown): number {
  if (typeof left === 'number' && typeof right === 'number') return left - right
  if (typeof left !== 'string' || typeof right !== 'string') return Number.NaN
  return left < right ? -1 : Number(left > right)
}

function toLength(value: unknown): number {
  if (typeof value === 'string' || Array.isArray(value)) return value.length
  return isRecord(value) ? Object.keys(value).length : 0
}

function readIndex(value: unknown, key: unknown): unknown {
  if (typeof key === 'string') return readField(value, key)
  return Array.isArray(value) && typeof key === 'number' ? value.at(Math.max(key, 0)) : undefined
}

function slice(value: unknown, from: unknown = 0, to: unknown = undefined): unknown {
  const start = typeof from === 'number' ? Math.max(from, 0) : 0
  const end = typeof to === 'number' ? Math.max(to, 0) : undefined
  return typeof value === 'string' || Array.isArray(value) ? value.slice(start, end) : undefined
}
