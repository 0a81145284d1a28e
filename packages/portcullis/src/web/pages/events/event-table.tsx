import type { JSX, TargetedKeyboardEvent, TargetedMouseEvent } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { AuditEvent } from '../../../console/routes/events.ts'
import { toActor, toSentence } from '../../audit-sentences.ts'
import { Badge } from '../../components/badge.tsx'
import { formatTime } from '../../format.ts'
import { findUserId, isFailure, toName } from './event-facts.ts'
import { type EventsAddress, toPlaceText } from './use-events-address.ts'

interface EventTableProps {
  readonly events: readonly AuditEvent[]
  readonly address: EventsAddress
  readonly arrived: ReadonlySet<string>
}

/** Receives the focus when the panel is closed. */
export const eventTableId = 'event-table'

/** One row per event. The table is one tab stop; the arrow keys move within it. */
export function EventTable({ events, address, arrived }: EventTableProps): JSX.Element {
  // By ID, because new events move the rows.
  const [activeId, setActiveId] = useState<string>()
  const found = events.findIndex(({ entry }) => entry.id === activeId)
  const active = Math.max(found, 0)
  const open = (event: AuditEvent | undefined) => {
    if (event) address.go({ event: toEventPlace(event) })
  }
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: active + 1,
    ArrowUp: active - 1,
    PageDown: active + 10,
    PageUp: active - 10,
    Home: 0,
    End: events.length - 1,
  }
  const press = (event: TargetedKeyboardEvent<HTMLTableElement>) => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey)
      return
    const step = steps[event.key]
    if (step !== undefined) {
      const next = events[Math.max(0, Math.min(events.length - 1, step))]
      setActiveId(next?.entry.id)
      document.getElementById(toRowId(next))?.scrollIntoView({ block: 'nearest' })
    } else if (event.key === 'Enter') {
      open(events[active])
    } else if (event.key === 'Escape' && address.opened) {
      address.go({ event: '' })
    } else {
      return
    }
    event.preventDefault()
  }
  const click = (event: TargetedMouseEvent<HTMLTableRowElement>, clicked: AuditEvent) => {
    setActiveId(clicked.entry.id)
    // Links handle their own clicks.
    if (event.target instanceof Element && event.target.closest('a')) return
    open(clicked)
  }
  return (
    <table
      id={eventTableId}
      class="table event-table"
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-to-interactive-role -- the table is navigated with the keyboard.
      role="grid"
      aria-label="Events. Use the arrow keys to move and Enter to open."
      tabIndex={0}
      aria-activedescendant={events.length > 0 ? toRowId(events[active]) : undefined}
      onKeyDown={press}
    >
      <thead>
        <tr>
          <th scope="col">Time</th>
          <th scope="col">Event</th>
          <th scope="col">User</th>
          <th scope="col">IP address</th>
        </tr>
      </thead>
      <tbody>
        {events.map((event) => (
          <EventRow
            key={event.entry.id}
            event={event}
            href={address.toHref({ event: toEventPlace(event) })}
            isActive={event.entry.id === events[active]?.entry.id}
            isOpen={event.entry.id === address.opened?.id}
            hasArrived={arrived.has(event.entry.id)}
            onClick={click}
          />
        ))}
      </tbody>
    </table>
  )
}

function toEventPlace({ entry }: AuditEvent): string {
  return toPlaceText({ time: entry.created_at, id: entry.id })
}

function toRowId(event: AuditEvent | undefined): string {
  return `event-${event?.entry.id}`
}

interface EventRowProps {
  readonly event: AuditEvent
  readonly href: string
  readonly isActive: boolean
  readonly isOpen: boolean
  readonly hasArrived: boolean
  readonly onClick: (event: TargetedMouseEvent<HTMLTableRowElement>, clicked: AuditEvent) => void
}

function EventRow({ event, href, isActive, isOpen, hasArrived, onClick }: EventRowProps) {
  // Memoized, because each new event renders all rows again.
  const cells = useMemo(() => <EventCells event={event} href={href} />, [event, href])
  const names = [isActive && 'active', hasArrived && 'arrived']
  return (
    <tr
      id={toRowId(event)}
      class={names.filter(Boolean).join(' ') || undefined}
      aria-selected={isOpen}
      onClick={(click) => onClick(click, event)}
    >
      {cells}
    </tr>
  )
}

function EventCells({ event, href }: Pick<EventRowProps, 'event' | 'href'>): JSX.Element {
  const { entry, user, at } = event
  const userId = findUserId(event)
  const actor = user.id === '' ? undefined : toActor(entry, user.id)
  return (
    <>
      <td class="event-time nowrap">
        <time dateTime={entry.created_at}>{formatTime(at)}</time>
      </td>
      <td class="event-cell-what">
        {/* Not a tab stop: the table handles the arrow keys itself. */}
        <a href={href} tabIndex={-1} class={isFailure(event) ? 'failed' : undefined}>
          {toSentence(entry, user.id)}
        </a>
        {actor !== undefined && <span class="muted small"> by {actor}</span>}
      </td>
      <td class="event-cell-user">
        {userId === undefined ? (
          <>
            {toName(event)} {user.id === '' && <Badge>No account</Badge>}
          </>
        ) : (
          <a href={`/users?id=${userId}`} tabIndex={-1}>
            {toName(event)}
          </a>
        )}
      </td>
      <td class="event-ip mono">{entry.ip_address || '–'}</td>
    </>
  )
}
