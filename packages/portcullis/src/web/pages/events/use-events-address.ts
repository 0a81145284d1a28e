import { usePageLocation } from '../../use-page-location.ts'

/** The filters of the auth server, which are also parameters of the page's URL. */
const forwarded = [
  ...(['user', 'name', 'address', 'action', 'reason', 'failed', 'tokens'] as const),
  ...(['from', 'to', 'before'] as const),
] as const

type Parameter = (typeof forwarded)[number] | 'since' | 'event'
type AddressChanges = Readonly<Partial<Record<Parameter, string>>>

/** The state in the page's URL. */
export interface EventsAddress {
  readonly values: AddressChanges
  /** The opened event: its time and its ID. */
  readonly opened: EventPlace | undefined
  /** Whether anything restricts the list. */
  readonly isFiltered: boolean
  toHref(changes: AddressChanges): string
  go(changes: AddressChanges, options?: { readonly isReplacing?: boolean }): void
}

export interface EventPlace {
  readonly time: string
  readonly id: string
}

export function useEventsAddress(): EventsAddress {
  const { query, route } = usePageLocation()
  const values: AddressChanges = query
  const toHref = (changes: AddressChanges, from = query) => {
    const entries = Object.entries({ ...from, ...changes }).filter(([, value]) => value !== '')
    return entries.length === 0 ? '/events' : `/events?${new URLSearchParams(entries)}`
  }
  return {
    values,
    opened: parsePlace(values.event),
    isFiltered: [...forwarded, 'since' as const].some((name) => values[name]),
    toHref: (changes) => toHref(changes),
    go(changes, { isReplacing = false } = {}) {
      // The current URL: a search that waits for the end of typing may be older than another change.
      const current = Object.fromEntries(new URLSearchParams(location.search))
      route(toHref(changes, current), isReplacing)
    },
  }
}

export function toPlaceText({ time, id }: EventPlace): string {
  return `${time}_${id}`
}

function parsePlace(text = ''): EventPlace | undefined {
  const [, time, id] = /^(\S+Z)_([\da-f-]{36})$/.exec(text) ?? []
  return time === undefined || id === undefined || Number.isNaN(Date.parse(time))
    ? undefined
    : { time, id }
}

const spans: Readonly<Record<string, number>> = {
  '15m': 15 * 60_000,
  '1h': 3_600_000,
  '24h': 24 * 3_600_000,
  '7d': 7 * 24 * 3_600_000,
}

/** The query for the console. A relative time is counted from now. */
export function toQuery(values: AddressChanges, now = Date.now()): URLSearchParams {
  const query = new URLSearchParams()
  for (const name of forwarded) {
    const value = values[name]
    if (value) query.set(name, value)
  }
  const span = spans[values.since ?? '']
  if (span !== undefined) query.set('from', new Date(now - span).toISOString())
  return query
}

/** New events belong to the list unless it ends at an earlier time. */
export function endsNow({ to, before }: AddressChanges): boolean {
  return !to && !before
}
