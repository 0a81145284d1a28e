import { useEffect, useRef, useState } from 'preact/hooks'
import type { AuditEvent, EventPage, EventTail } from '../../../console/routes/events.ts'
import { callApi } from '../../api.ts'
import { useEventStream } from '../../use-event-stream.ts'
import { type Loaded, useLoaded } from '../../use-loaded.ts'
import { addEvents, type EventList, toEventList } from './event-list.ts'
import { endsNow, toQuery, type useEventsAddress } from './use-events-address.ts'

const pageSize = 100
/** One read may find few events or none. After this many reads, the user decides whether to continue. */
const mostReads = 10

type Values = ReturnType<typeof useEventsAddress>['values']

export interface Events {
  readonly state: Loaded<EventList>['state']
  readonly error?: unknown
  readonly list: EventList
  readonly reload: () => void
  readonly loadOlder: () => Promise<void>
  readonly live: LiveState
}

/** `off`: the list ends at an earlier time, so new events do not belong to it. */
export interface LiveState {
  readonly kind: 'off' | 'paused' | 'connecting' | 'live'
  /** Why no new events arrive. */
  readonly fault: string | undefined
  /** The IDs of events that have arrived since the list was loaded. */
  readonly arrived: ReadonlySet<string>
  readonly setPaused: (isPaused: boolean) => void
}

const empty: EventList = { events: [], next: null }

/** Loads the events that match the page's URL, and follows new ones. */
export function useEvents(values: Values): Events {
  const key = toQuery(values, 0).toString()
  const loaded = useLoaded(
    async (signal) => {
      const query = toQuery(values)
      return { query, page: await readSome(query, signal) }
    },
    [key],
  )
  const ready = loaded.state === 'ready' ? loaded.value : undefined
  /** The events that were added to the loaded page. They are dropped when another page is loaded. */
  const [added, setAdded] = useState<{ readonly to: typeof ready; readonly list: EventList }>()
  const toList = (last: typeof added) =>
    last && last.to === ready ? last.list : ready ? toEventList(ready.page) : empty
  const list = toList(added)
  const add = (events: readonly AuditEvent[], next?: string | null) =>
    setAdded((last) => ({ to: ready, list: addEvents(toList(last), events, next) }))
  const live = useLiveTail(ready, endsNow(values), add)
  return {
    state: loaded.state,
    ...(loaded.state === 'failed' && { error: loaded.error }),
    list,
    reload: loaded.reload,
    live,
    async loadOlder() {
      if (ready === undefined || list.next === null) return
      const query = new URLSearchParams(ready.query)
      query.set('before', list.next)
      const older = await readSome(query)
      add(older.events, older.next)
    },
  }
}

async function readSome(query: URLSearchParams, signal?: AbortSignal): Promise<EventPage> {
  const search = new URLSearchParams(query)
  search.set('limit', `${pageSize}`)
  const read = () => callApi<EventPage>(`/api/events?${search}`, signal ? { signal } : {})
  const first = await read()
  let last = first
  for (let reads = 1; reads < mostReads && last.next !== null; reads += 1) {
    if (last.events.length > 0) break
    search.set('before', last.next)
    last = await read()
  }
  // The position of the live tail is the one from before the first read.
  return { ...last, latest: first.latest }
}

function useLiveTail(
  loaded: { readonly query: URLSearchParams; readonly page: EventPage } | undefined,
  isOpenEnded: boolean,
  onEvents: (events: readonly AuditEvent[]) => void,
): LiveState {
  const [isPaused, setPaused] = useState(false)
  const [fault, setFault] = useState<string>()
  const [arrived, setArrived] = useState<ReadonlySet<string>>(new Set())
  /** Where the stream begins. It changes only on a reconnect, since each change causes one. */
  const [after, setAfter] = useState<string>()
  const latest = useRef<string>(undefined)
  useEffect(() => {
    latest.current = loaded?.page.latest
    setAfter(latest.current)
    setArrived(new Set())
    setFault(undefined)
  }, [loaded])

  const query = new URLSearchParams(loaded?.query)
  if (after !== undefined) query.set('after', after)
  const isWanted = isOpenEnded && !isPaused && after !== undefined
  const stream = useEventStream(isWanted ? `/api/events/stream?${query}` : undefined, {
    tail({ events, latest: position }: EventTail) {
      latest.current = position
      setFault(undefined)
      if (events.length === 0) return
      setArrived((last) => new Set([...last, ...events.map(({ entry }) => entry.id)].slice(-500)))
      onEvents(events)
    },
    fault: setFault,
  })
  const isConnected = stream === 'open'
  // A new connection continues where the last one ended.
  const resume = () => setAfter(latest.current)
  useEffect(() => {
    if (!isConnected) resume()
  }, [isConnected])
  useEffect(() => {
    const follow = () => document.hidden && resume()
    document.addEventListener('visibilitychange', follow)
    return () => document.removeEventListener('visibilitychange', follow)
  }, [])

  const running = isConnected ? 'live' : 'connecting'
  return {
    kind: isOpenEnded ? (isPaused ? 'paused' : running) : 'off',
    fault,
    arrived,
    setPaused(paused) {
      resume()
      setPaused(paused)
    },
  }
}
