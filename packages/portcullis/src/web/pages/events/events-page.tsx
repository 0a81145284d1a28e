import type { JSX } from 'preact'
import { ApiError } from '../../api.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { LiveBadge } from '../../components/live-badge.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Empty, Failure, Loading, Notice } from '../../components/states.tsx'
import { formatNumber } from '../../format.ts'
import { useSession } from '../../session.ts'
import { EventFilters } from './event-filters.tsx'
import { mostRows } from './event-list.ts'
import { EventPanel } from './event-panel.tsx'
import { EventTable, eventTableId } from './event-table.tsx'
import { type LiveState, type Events as LoadedEvents, useEvents } from './use-events.ts'
import { type EventsAddress, useEventsAddress } from './use-events-address.ts'

const retentionUrl =
  'https://github.com/portcullis/portcullis/blob/main/docs/auth-operations.md#audit-log'

export function Page(): JSX.Element {
  const { parts } = useSession()
  return parts.auth ? <Events /> : <NoAuthServer />
}

function NoAuthServer(): JSX.Element {
  return (
    <>
      <PageHeader title="Events" summary="The audit log and failed sign-ins." />
      <Empty icon="events" title="No auth server">
        Start everything with <code>portcullis up</code>, or start the console with{' '}
        <code>portcullis console --auth-url URL --auth-key KEY</code>. The key must be a service key
        of the auth server.
      </Empty>
    </>
  )
}

function Events(): JSX.Element {
  const address = useEventsAddress()
  const events = useEvents(address.values)
  const { opened } = address
  return (
    <div class={opened === undefined ? 'events-page' : 'events-page with-panel'}>
      <PageHeader
        title="Events"
        summary={
          <>
            The audit log and failed sign-ins, newest first.{' '}
            <a href={retentionUrl} target="_blank" rel="noreferrer">
              How long they are kept
            </a>
          </>
        }
      >
        <LiveSwitch live={events.live} address={address} />
      </PageHeader>
      <EventFilters address={address} />
      {events.live.fault !== undefined && (
        <Notice tone="warn" title="No live updates.">
          {events.live.fault}
        </Notice>
      )}
      <div class="events-layout">
        <section class="card event-browser" aria-label="List of events">
          <EventBrowser events={events} address={address} />
        </section>
        {opened !== undefined && (
          <EventPanel
            key={opened.id}
            place={opened}
            event={events.list.events.find(({ entry }) => entry.id === opened.id)}
            onClose={() => {
              address.go({ event: '' })
              document.getElementById(eventTableId)?.focus({ preventScroll: true })
            }}
          />
        )}
      </div>
    </div>
  )
}

interface LiveSwitchProps {
  readonly live: LiveState
  readonly address: EventsAddress
}

function LiveSwitch({ live, address }: LiveSwitchProps): JSX.Element {
  const { kind, setPaused } = live
  return (
    <>
      {kind === 'live' || kind === 'connecting' ? (
        <LiveBadge isLive={kind === 'live'} />
      ) : (
        <Badge hasDot>{kind === 'paused' ? 'Paused' : 'Not live'}</Badge>
      )}
      {kind === 'off' ? (
        <a class="button" href={address.toHref({ to: '', before: '' })}>
          Show newest events
        </a>
      ) : kind === 'paused' ? (
        <Button icon="try" onClick={() => setPaused(false)}>
          Resume
        </Button>
      ) : (
        <Button icon="pause" onClick={() => setPaused(true)}>
          Pause
        </Button>
      )}
    </>
  )
}

interface BrowserProps {
  readonly events: LoadedEvents
  readonly address: EventsAddress
}

function EventBrowser({ events, address }: BrowserProps): JSX.Element {
  const { state, error, list, live } = events
  if (state === 'loading') return <Loading>Loading events…</Loading>
  if (state === 'failed') {
    return isMissing(error) ? (
      <Empty icon="events" title="Events are not available">
        This auth server cannot search its events. Only the auth server of Portcullis has this
        search.
      </Empty>
    ) : (
      <Failure error={error} onRetry={events.reload} />
    )
  }
  if (list.events.length === 0 && list.next === null) {
    return <NoEvents address={address} isLive={live.kind !== 'off'} />
  }
  return (
    <div class="event-scroll">
      <EventTable events={list.events} address={address} arrived={live.arrived} />
      {list.next !== null && <OlderEvents events={events} address={address} />}
    </div>
  )
}

function isMissing(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'events_missing'
}

interface NoEventsProps {
  readonly address: EventsAddress
  readonly isLive: boolean
}

function NoEvents({ address, isLive }: NoEventsProps): JSX.Element {
  if (address.isFiltered) {
    return (
      <Empty icon="search" title="No events match">
        Change the filters, or <a href="/events">show all events</a>.
        {isLive && ' New events that match appear here.'}
      </Empty>
    )
  }
  return (
    <Empty icon="events" title="No events yet">
      <a href="/try">Sign up a user</a> to see the first event. Nothing appears here if{' '}
      <code>AUTH_AUDIT_LOG_DISABLE_POSTGRES</code> is set.
    </Empty>
  )
}

function OlderEvents({ events, address }: BrowserProps): JSX.Element {
  const { list, loadOlder } = events
  const isFull = list.events.length >= mostRows
  return (
    <div class="event-older">
      {isFull ? (
        <>
          <span class="muted small">
            {formatNumber(mostRows)} events are shown, the maximum on one page.
          </span>
          <a class="button" href={address.toHref({ before: list.next ?? '' })}>
            Continue with older events
          </a>
        </>
      ) : (
        <>
          <span class="muted small">
            {list.events.length === 0
              ? 'No events match among the newest entries. Load older events to continue the search.'
              : `${formatNumber(list.events.length)} events are shown.`}
          </span>
          <Button onClick={loadOlder}>Load older events</Button>
        </>
      )}
    </div>
  )
}
