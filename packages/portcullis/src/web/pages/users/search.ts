/** A column by which the auth server sorts users. */
export const sortColumns = [
  'created_at',
  'last_sign_in_at',
  'updated_at',
  'email',
  'phone',
  'id',
  'provider',
  'second_factor',
  'role',
  'status',
] as const

export type SortColumn = (typeof sortColumns)[number]

export interface Sort {
  readonly column: SortColumn
  readonly direction: 'asc' | 'desc'
}

/** The filters in the page's URL. Those that end with `from` and `to` are dates, and include that day. */
export const filterNames = [
  'confirmed',
  'banned',
  'anonymous',
  'second_factor',
  'provider',
  'created_from',
  'created_to',
  'signed_in',
  'seen_from',
  'seen_to',
] as const

export type FilterName = (typeof filterNames)[number]

/** Filters that do not apply are missing. */
export type Filters = Readonly<Partial<Record<FilterName, string>>>

export interface Search {
  readonly text: string
  readonly filters: Filters
  readonly sort: Sort
}

const newestFirst: Sort = { column: 'created_at', direction: 'desc' }

/** Parses `email` or, for the descending order, `-email`. */
export function parseSort(text = ''): Sort {
  const column = sortColumns.find((name) => name === text.replace(/^-/, ''))
  if (column === undefined) return newestFirst
  return { column, direction: text.startsWith('-') ? 'desc' : 'asc' }
}

/** Empty for the default order, which the URL does not contain. */
export function formatSort({ column, direction }: Sort): string {
  if (column === newestFirst.column && direction === newestFirst.direction) return ''
  return direction === 'desc' ? `-${column}` : column
}

export function isFiltered({ text, filters }: Search): boolean {
  return text !== '' || Object.keys(filters).length > 0
}

/** The query parameters of the list, without those of its pages. */
export function toListQuery({ text, filters, sort }: Search): Readonly<Record<string, string>> {
  const { created_from, created_to, seen_from, seen_to, ...same } = filters
  const query = {
    ...same,
    ...(text !== '' && { filter: text }),
    ...(created_from && { created_after: toMidnight(created_from, 0) }),
    ...(created_to && { created_before: toMidnight(created_to, 1) }),
    ...(seen_from && { last_sign_in_after: toMidnight(seen_from, 0) }),
    ...(seen_to && { last_sign_in_before: toMidnight(seen_to, 1) }),
  }
  const { column, direction } = sort
  // Every auth server knows `sort`; only that of Portcullis sorts by other columns.
  if (column !== 'created_at') return { ...query, order_by: `${column} ${direction}` }
  return direction === 'asc' ? { ...query, sort: 'created_at asc' } : query
}

/**
 * Returns the start of a day in the time zone of the browser. An invalid date is returned unchanged, so that the
 * auth server reports it.
 */
function toMidnight(date: string, daysLater: number): string {
  const day = new Date(`${date}T00:00:00`)
  day.setDate(day.getDate() + daysLater)
  return Number.isNaN(day.getTime()) ? date : day.toISOString()
}
