import type { Page } from '../db/statement.ts'
import { badPagination } from '../errors.ts'

type Query = Readonly<Record<string, string | undefined>>

const defaultSize = 50
/** Limits the memory that one response needs. */
export const largestPageSize = 10_000
const largestNumber = 1e12

/**
 * Parses `page` and `per_page`. Empty values count as omitted, because the client library sends
 * them.
 * @throws {ApiError}
 */
export function parsePage(query: Query, byDefault = defaultSize): Page {
  const number = parseCount('page', query['page'], 1, largestNumber)
  const size = parseCount('per_page', query['per_page'], byDefault, largestPageSize)
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
  throw badPagination(`${name} must be a whole number from 1 to ${most}. Got "${text}"`)
}

interface PageLinks {
  /** Parameters that are the same on every page. */
  readonly same?: Readonly<Record<string, string>>
  /**
   * The parameters of the next page. Default: the next page number. Null when there is no next
   * page.
   */
  readonly next?: Readonly<Record<string, string | number>> | null
  /** False when the last page is unknown. */
  readonly hasLast?: boolean
}

/**
 * Headers with links to other pages. The client library requires `page` to be the first parameter
 * and `rel` to be in double quotes.
 */
export function toPageHeaders(
  path: string,
  { number, size }: Page,
  total: number,
  { same = {}, next, hasLast = true }: PageLinks = {},
): Readonly<Record<string, string>> {
  const last = Math.max(1, Math.ceil(total / size))
  const toLink = (
    { page = 1, ...more }: Readonly<Record<string, string | number>>,
    rel: string,
  ) => {
    const query = new URLSearchParams({ page: `${page}`, per_page: `${size}`, ...same })
    for (const [name, value] of Object.entries(more)) query.set(name, `${value}`)
    return `<${path}?${query}>; rel="${rel}"`
  }
  const following = next === undefined && number < last ? { page: number + 1 } : next
  const links = [
    ...(following ? [toLink(following, 'next')] : []),
    ...(hasLast ? [toLink({ page: last }, 'last')] : []),
  ]
  return { 'x-total-count': `${total}`, ...(links.length > 0 && { link: links.join(', ') }) }
}
