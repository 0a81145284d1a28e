import { ConsoleError } from '../errors.ts'
import { followEvents } from '../events/follow-events.ts'
import {
  type AuditEvent,
  type EventPage,
  type EventSearch,
  filterNames,
  readEvents,
} from '../events/read-events.ts'
import type { AddRoutes } from '../settings.ts'

export type { AuditEvent, EventPage }

/** A message of the live tail. */
export interface EventTail {
  /** Oldest first. */
  readonly events: readonly AuditEvent[]
  /** Where to continue after a reconnect. */
  readonly latest: string
}

const tailSize = 200
/** How often the position is sent when nothing happens, so that a reconnect has little to read again. */
const positionMs = 15_000

/** The routes of the Events page. */
export const addRoutes: AddRoutes = (server, { auth, streams }) => {
  if (!auth) return
  server.get<{ Querystring: EventSearch }>(
    '/api/events',
    { schema: { querystring: toSchema(...filterNames, 'to', 'before', 'limit') } },
    ({ query }) => readEvents(auth, query),
  )
  server.get<{ Querystring: EventSearch & { readonly after?: string } }>(
    '/api/events/stream',
    { schema: { querystring: toSchema(...filterNames, 'after') } },
    ({ query }, reply) => {
      const { after, ...filter } = query
      if (after === undefined) {
        throw new ConsoleError(400, 'bad_request', 'The parameter "after" is missing.')
      }
      const stream = streams.open(reply)
      let isFaulty = false
      let sentAt = performance.now()
      void followEvents({
        read: (position) => {
          const search = { ...filter, after: position, limit: `${tailSize}` }
          return readEvents(auth, search, stream.closed)
        },
        size: tailSize,
        after,
        signal: stream.closed,
        onEvents({ events, latest }) {
          const isDue = performance.now() - sentAt > positionMs
          if (events.length === 0 && !isDue && !isFaulty) return true
          const tail: EventTail = { events, latest }
          const isSent = stream.send('tail', tail)
          if (isSent) {
            isFaulty = false
            sentAt = performance.now()
          }
          return isSent
        },
        onFault(message) {
          isFaulty = stream.send('fault', message)
        },
      })
    },
  )
}

/** The key allows every admin call; only these parameters are forwarded. */
function toSchema(...names: readonly string[]) {
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
    additionalProperties: false,
  }
}
