import { invalid } from '../../errors.ts'

type Query = Readonly<Record<string, string | undefined>>

export interface Page {
  readonly number: number
  readonly size: number
  readonly offset: number
}

const defaultSize = 50
/** More at once would only fill the memory of both sides. */
const largestSize = 10_000
const largestNumber = 1e12

/** Of `page` and `per_page`; the client sends empty ones. @throws {ApiError} */
export function parsePage(query: Query): Page {
  const number = parseCount('page', query['page'], 1, largestNumber)
  const size = parseCount('per_page', query['per_page'], defaultSize, largestSize)
  return { number, size, offset: (number - 1) * size }
}

export function parseCount(
  name: string,
  text: string | undefined,
  byDefault: number,
  most: number,
): number {
  if (text === undefined || text === '') return byDefault
  const count = /^\d+$/.test(text) ? Number(text) : 0
  if (count >= 1 && count <= most) return count
  throw badPagination(`${name} must be a whole number from 1 to ${most}, and is "${text}"`)
}

export function badPagination(detail: string): Error {
  return invalid(`Bad Pagination Parameters: ${detail}`)
}

/** A pattern of `ilike` that finds the text anywhere; `%` and `_` in it stand for themselves. */
export function toSubstringPattern(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`
}
