import { useLocation } from 'preact-iso'

export type Order = 'newest' | 'oldest'

export interface Search {
  readonly text: string
  readonly order: Order
}

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

type AddressChanges = Readonly<Partial<Record<'q' | 'sort' | 'id' | 'tab', string>>>

export function useUsersAddress(): UsersAddress {
  const { query, route } = useLocation()
  const toHref = (changes: AddressChanges) => {
    const entries = Object.entries({ ...query, ...changes }).filter(([, value]) => value !== '')
    return entries.length === 0 ? '/users' : `/users?${new URLSearchParams(entries)}`
  }
  return {
    search: { text: query['q'] ?? '', order: query['sort'] === 'oldest' ? 'oldest' : 'newest' },
    userId: query['id'],
    tab: query['tab'],
    toHref,
    go: (changes, { isReplacing = false } = {}) => route(toHref(changes), isReplacing),
  }
}
