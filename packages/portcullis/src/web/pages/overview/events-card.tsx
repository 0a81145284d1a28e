import type { JSX } from 'preact'
import type { AuditEvent } from '../../../console/routes/overview.ts'
import { formatEventName, toSentence } from '../../audit-sentences.ts'
import { Badge } from '../../components/badge.tsx'
import { Card } from '../../components/card.tsx'
import { Empty, Loading } from '../../components/states.tsx'
import { formatAge, formatTime } from '../../format.ts'
import type { ActivityCardProps } from './sign-ins-card.tsx'

/** The latest entries of the audit log. */
export function EventsCard({ activity, isMissing }: ActivityCardProps): JSX.Element | null {
  // The card above says what is missing.
  if (isMissing) return null
  return (
    <Card title="Latest events" isFlush>
      {activity === undefined ? (
        <Loading>Loading the audit log…</Loading>
      ) : activity.events.length === 0 ? (
        <NoEvents fault={activity.fault} />
      ) : (
        <ul class="events">
          {activity.events.map((event) => (
            <EventLine key={event.entry.id} event={event} />
          ))}
        </ul>
      )}
    </Card>
  )
}

function NoEvents({ fault }: { readonly fault: string | undefined }): JSX.Element {
  if (fault !== undefined) {
    return (
      <Empty icon="alert" title="The events are not available">
        {fault}
      </Empty>
    )
  }
  return (
    <Empty icon="overview" title="No events yet">
      <a href="/try">Sign up a user</a> to see the first event.
    </Empty>
  )
}

function EventLine({ event }: { readonly event: AuditEvent }): JSX.Element {
  const { entry, user, at } = event
  return (
    <li>
      {user.id === '' ? (
        <span class="event-user" title="No account with this name exists">
          {formatEventName(user.name) || 'no email or phone number'} <Badge>No account</Badge>
        </span>
      ) : (
        <a class="event-user" href={`/users?id=${encodeURIComponent(user.id)}`}>
          {formatEventName(user.name) || user.id.slice(0, 8)}
        </a>
      )}
      <span class="event-what">{toSentence(entry, user.id)}</span>
      <span class="small muted mono event-from">{entry.ip_address}</span>
      <time class="small muted number nowrap" dateTime={entry.created_at} title={formatAge(at)}>
        {formatTime(at)}
      </time>
    </li>
  )
}
