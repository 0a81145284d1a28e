import type { JSX } from 'preact'
import type { AuditEvent } from '../../../console/routes/overview.ts'
import { Card } from '../../components/card.tsx'
import { Empty, Loading } from '../../components/states.tsx'
import { formatAge, formatTime } from '../../format.ts'
import { toSentence } from '../users/audit-sentences.ts'
import type { ActivityCardProps } from './sign-ins-card.tsx'

/** The last lines of the audit log, for people. */
export function EventsCard({ activity, isMissing }: ActivityCardProps): JSX.Element | null {
  // The chart above says what is missing.
  if (isMissing) return null
  return (
    <Card title="Latest events" isFlush>
      {activity === undefined ? (
        <Loading>Reading the audit log…</Loading>
      ) : activity.events.length === 0 ? (
        <Empty icon="overview" title="Nothing has happened yet">
          {activity.fault ?? (
            <>
              <a href="/try">Sign somebody up</a>, and it is told here.
            </>
          )}
        </Empty>
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

function EventLine({ event }: { readonly event: AuditEvent }): JSX.Element {
  const { entry, user, at } = event
  return (
    <li>
      <a class="event-user" href={`/users?id=${encodeURIComponent(user.id)}`}>
        {user.name}
      </a>
      <span class="event-what">{toSentence(entry, user.id)}</span>
      <span class="small muted mono event-from">{entry.ip_address}</span>
      <time class="small muted number nowrap" dateTime={entry.created_at} title={formatTime(at)}>
        {formatAge(at)}
      </time>
    </li>
  )
}
