import { useLocation } from 'preact-iso'

export type Order = 'newest' | 'oldest'

export interface Search {
  readonly text: string
  readonly order: Order
}

/** What the address of the page says. */
export interface UsersAddress {
  readonly search: Search
  /** Whose panel is open. */
  readonly userId: string | undefined
  readonly tab: string | undefined
  /** The address with something else in it: an empty text takes it out. */
  toHref(changes: AddressChanges): string
  /** Goes there; the way back leads here unless it replaces this. */
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
