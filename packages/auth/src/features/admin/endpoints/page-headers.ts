import type { Page } from '../pages.ts'

interface PageLinks {
  /** Parameters that stay the same from page to page. */
  readonly same?: Readonly<Record<string, string>>
  /** Those of the next page, where it is not simply the next number; null: there is none. */
  readonly next?: Readonly<Record<string, string | number>> | null
  /** False: the last page is not known. */
  readonly hasLast?: boolean
}

/**
 * Headers that lead to other pages. The client reads `page` only where it is the first parameter, and
 * `rel` only in double quotes.
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
