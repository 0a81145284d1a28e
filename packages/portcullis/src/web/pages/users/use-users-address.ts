import { usePageLocation } from '../../use-page-location.ts'
import { type FilterName, filterNames, parseSort, type Search } from './search.ts'

/** The state in the page's URL. */
export interface UsersAddress {
  readonly search: Search
  /** The user whose panel is open. */
  readonly userId: string | undefined
  readonly tab: string | undefined
  /** Returns the URL with changed parameters; an empty value removes a parameter. */
  toHref(changes: AddressChanges): string
  /** Navigates to the changed URL; `isReplacing` replaces the history entry. */
  go(changes: AddressChanges, options?: { readonly isReplacing?: boolean }): void
}

type AddressChanges = Readonly<Partial<Record<'q' | 'sort' | 'id' | 'tab' | FilterName, string>>>

/** The change that removes all filters. */
export const withoutFilters: AddressChanges = Object.fromEntries(
  filterNames.map((name) => [name, '']),
)

export function useUsersAddress(): UsersAddress {
  const { query, route } = usePageLocation()
  const toHref = (changes: AddressChanges) => {
    const entries = Object.entries({ ...query, ...changes }).filter(([, value]) => value !== '')
    return entries.length === 0 ? '/users' : `/users?${new URLSearchParams(entries)}`
  }
  const filters = filterNames.flatMap((name) => (query[name] ? [[name, query[name]]] : []))
  return {
    search: {
      text: query['q'] ?? '',
      filters: Object.fromEntries(filters),
      sort: parseSort(query['sort']),
    },
    userId: query['id'],
    tab: query['tab'],
    toHref,
    go: (changes, { isReplacing = false } = {}) => route(toHref(changes), isReplacing),
  }
}
