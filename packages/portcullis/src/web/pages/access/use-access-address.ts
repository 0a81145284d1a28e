import { usePageLocation } from '../../use-page-location.ts'

export type TabName = 'clients' | 'providers' | 'sso' | 'keys'

/** What can be created, as named in the URL of its open form. */
export type NewName = 'client' | 'provider' | 'sso' | 'key' | 'account'

type Changes = Readonly<
  Partial<Record<'tab' | 'id' | 'new' | 'q' | 'page' | 'user' | 'account', string>>
>

/** The state in the page's URL. Secrets are never part of it. */
export interface AccessAddress {
  readonly tab: TabName
  /** The item that is open. */
  readonly id: string | undefined
  /** The form that is open. */
  readonly opened: string | undefined
  readonly search: string
  readonly page: number
  /** The owner whose keys are shown. */
  readonly userId: string | undefined
  readonly accountId: string | undefined
  /** Returns the URL with changed parameters; an empty value removes a parameter. */
  toHref(changes: Changes): string
  go(changes: Changes, options?: { readonly isReplacing?: boolean }): void
  /** Leaves everything else of the URL out. */
  open(tab: TabName, changes?: Changes): void
}

const names: readonly TabName[] = ['clients', 'providers', 'sso', 'keys']

export function useAccessAddress(): AccessAddress {
  const { query, route } = usePageLocation()
  const toHref = (changes: Changes) => toUrl({ ...query, ...changes })
  return {
    tab: names.find((name) => name === query['tab']) ?? 'clients',
    id: query['id'],
    opened: query['new'],
    search: query['q'] ?? '',
    page: Math.max(1, Number.parseInt(query['page'] ?? '1', 10) || 1),
    userId: query['user'],
    accountId: query['account'],
    toHref,
    go: (changes, { isReplacing = false } = {}) => route(toHref(changes), isReplacing),
    open: (tab, changes = {}) => route(toUrl({ tab: tab === 'clients' ? '' : tab, ...changes })),
  }
}

function toUrl(parameters: Readonly<Record<string, string>>): string {
  const entries = Object.entries(parameters).filter(([, value]) => value !== '')
  return entries.length === 0 ? '/access' : `/access?${new URLSearchParams(entries)}`
}
