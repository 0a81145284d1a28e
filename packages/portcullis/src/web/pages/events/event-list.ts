import type { AuditEvent, EventPage } from '../../../console/routes/events.ts'

/** The events that are shown, newest first. */
export interface EventList {
  readonly events: readonly AuditEvent[]
  /** Where older events continue; null at the end of the log. */
  readonly next: string | null
}

/** The page stays responsive with this many rows. */
export const mostRows = 2_000

/**
 * Adds events. An event that is already in the list is replaced: further attempts may have failed, or its user may
 * have been deleted.
 * @param next The new end of the list, if older events were added.
 */
export function addEvents(
  list: EventList,
  added: readonly AuditEvent[],
  next: string | null = list.next,
): EventList {
  const all = new Map([...list.events, ...added].map((event) => [event.entry.id, event]))
  const events = [...all.values()].sort(compareNewest)
  if (events.length <= mostRows) return { events, next }
  const kept = events.slice(0, mostRows)
  const { entry } = kept[mostRows - 1] ?? {}
  return { events: kept, next: entry ? `${entry.created_at}_${entry.id}` : next }
}

export function toEventList({ events, next }: EventPage): EventList {
  return { events, next }
}

/** The order of the auth server. Its times have microseconds, which a Date does not have. */
function compareNewest({ entry: a }: AuditEvent, { entry: b }: AuditEvent): number {
  const [one, other] = [toSortableTime(a.created_at) + a.id, toSortableTime(b.created_at) + b.id]
  return one < other ? 1 : one > other ? -1 : 0
}

/** Times have different numbers of decimals, so comparing them as strings would give a wrong order. */
function toSortableTime(time: string): string {
  return time.replace(/(?:\.(\d+))?Z$/, (_, fraction = '') => `.${fraction.padEnd(6, '0')}Z`)
}
