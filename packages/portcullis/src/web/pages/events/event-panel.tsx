import type { ComponentChildren, JSX, TargetedKeyboardEvent } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { AuditEvent, EventPage } from '../../../console/routes/events.ts'
import { callApi } from '../../api.ts'
import { toActor, toFailureReason, toSentence } from '../../audit-sentences.ts'
import { Badge } from '../../components/badge.tsx'
import { Button, CopyButton } from '../../components/button.tsx'
import { Empty, Failure, Loading } from '../../components/states.tsx'
import { formatAge, formatNumber, formatTime } from '../../format.ts'
import { useLoaded } from '../../use-loaded.ts'
import { EventSession, EventUser } from './event-account.tsx'
import { findTrait, findUserId, isFailure, toName } from './event-facts.ts'
import type { EventPlace } from './use-events-address.ts'

interface EventPanelProps {
  readonly place: EventPlace
  /** Undefined if the event is not in the list. */
  readonly event: AuditEvent | undefined
  readonly onClose: () => void
}

/** Everything that is known about one event, beside the list. */
export function EventPanel({ place, event, onClose }: EventPanelProps): JSX.Element {
  const press = (pressed: TargetedKeyboardEvent<HTMLElement>) => {
    if (pressed.key === 'Escape') onClose()
  }
  return (
    <aside class="card event-panel" aria-label="Event details" onKeyDown={press}>
      <span class="close">
        <Button kind="quiet" size="small" icon="close" label="Close panel" onClick={onClose}>
          {''}
        </Button>
      </span>
      {event ? <Details event={event} /> : <FoundDetails place={place} />}
    </aside>
  )
}

/** Searches for the event by its time, for a URL that was opened directly. */
function FoundDetails({ place }: Pick<EventPanelProps, 'place'>): JSX.Element {
  const loaded = useLoaded(
    async (signal) => {
      const to = new Date(Date.parse(place.time) + 1).toISOString()
      const query = new URLSearchParams({ from: place.time, to, tokens: 'true', limit: '1000' })
      const { events } = await callApi<EventPage>(`/api/events?${query}`, { signal })
      return events.find(({ entry }) => entry.id === place.id)
    },
    [place.time, place.id],
  )
  if (loaded.state === 'loading') return <Loading />
  if (loaded.state === 'failed') return <Failure error={loaded.error} onRetry={loaded.reload} />
  if (loaded.value) return <Details event={loaded.value} />
  return (
    <Empty icon="events" title="Event not found">
      The event is no longer stored, or it has changed because further attempts failed.
    </Empty>
  )
}

function Details({ event }: { readonly event: AuditEvent }): JSX.Element {
  const { entry, user, at } = event
  const { payload } = entry
  const heading = useRef<HTMLHeadingElement>(null)
  // A layout effect, so that the next key press goes to the panel.
  useLayoutEffect(() => heading.current?.focus({ preventScroll: true }), [entry.id])
  const userId = findUserId(event)
  const sessionId = findTrait(event, 'session_id')
  const actor = user.id === '' ? undefined : toActor(entry, user.id)
  return (
    <>
      <header class="event-heading">
        <h2 ref={heading} tabIndex={-1}>
          {toSentence(entry, user.id)}
        </h2>
        <span class="muted">
          <time dateTime={entry.created_at}>{formatTime(at)}</time>, {formatAge(at)}
        </span>
      </header>
      <div class="event-body stack">
        <dl class="event-facts">
          <Fact name="User">
            {toName(event)} {user.id === '' && <Badge>No account</Badge>}
            <Links event={event} />
          </Fact>
          {actor !== undefined && <Fact name="Done by">{actor}</Fact>}
          <Fact name="IP address">
            {entry.ip_address === '' ? (
              'Not recorded'
            ) : (
              <>
                <span class="mono">{entry.ip_address}</span>
                <a class="small" href={`/events?address=${encodeURIComponent(entry.ip_address)}`}>
                  All events from this IP address
                </a>
              </>
            )}
          </Fact>
          {payload.user_agent !== undefined && <Fact name="User agent">{payload.user_agent}</Fact>}
          {payload.request_id !== undefined && (
            <Fact name="Request ID">
              <span class="mono">{payload.request_id}</span>
              <CopyButton text={payload.request_id} label="Copy request ID" />
            </Fact>
          )}
          <Fact name="Action">
            <code>{payload.action}</code>
          </Fact>
          {isFailure(event) && <FailureFacts event={event} />}
          {sessionId !== undefined && (
            <Fact name="Session">
              <span class="mono">{sessionId}</span>
              {userId !== undefined && <EventSession userId={userId} sessionId={sessionId} />}
            </Fact>
          )}
          <Fact name="Event ID">
            <span class="mono">{entry.id}</span>
            <CopyButton text={entry.id} label="Copy ID" />
          </Fact>
        </dl>
        {userId !== undefined && <EventUser key={userId} userId={userId} />}
        <section aria-label="Stored entry" class="stack tight">
          <h3>Stored entry</h3>
          <pre class="code-block mono small">{JSON.stringify(entry, undefined, 2)}</pre>
          <LogHint event={event} />
        </section>
      </div>
    </>
  )
}

/** Says how to find the lines of the event in the log of the auth server. */
function LogHint({ event }: { readonly event: AuditEvent }): JSX.Element | null {
  const { id, payload } = event.entry
  const known =
    payload.request_id === undefined
      ? (['audit_log_id', id] as const)
      : (['request_id', payload.request_id] as const)
  // The log has no line with the ID of a failed sign-in.
  if (isFailure(event) && payload.request_id === undefined) return null
  return (
    <p class="muted small">
      To find the request in the log of the auth server, search it for{' '}
      <code>
        "{known[0]}":"{known[1]}"
      </code>
      .
    </p>
  )
}

function Fact({
  name,
  children,
}: {
  readonly name: string
  readonly children: ComponentChildren
}): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function Links({ event }: { readonly event: AuditEvent }): JSX.Element | null {
  const userId = findUserId(event)
  const { id, name } = event.user
  if (userId !== undefined) {
    return (
      <>
        <a class="small" href={`/events?user=${userId}`}>
          All events of this user
        </a>
        <a class="small" href={`/users?id=${userId}`}>
          Open user
        </a>
      </>
    )
  }
  if (id !== '' || name === '') return null
  return (
    <a class="small" href={`/events?name=${encodeURIComponent(name)}`}>
      All events with this name
    </a>
  )
}

function FailureFacts({ event }: { readonly event: AuditEvent }): JSX.Element {
  const { reason, count, first_at: firstAt } = event.entry.payload.traits ?? {}
  return (
    <>
      <Fact name="Reason">
        {toFailureReason(reason)} <code>{String(reason)}</code>
      </Fact>
      <Fact name="Attempts">
        {formatNumber(Number(count ?? 1))}
        {Number(count) > 1 && typeof firstAt === 'string' && (
          <span class="muted small">the first one {formatTime(firstAt)}</span>
        )}
      </Fact>
    </>
  )
}
