import type { AddRoutes } from '../console.ts'
import { createOverview } from '../overview/overview.ts'

export type { OverviewSections } from '../overview/overview.ts'
export type { ActivityState, AuditEvent } from '../overview/watch-activity.ts'
export type { DecisionsSecond, DecisionsState } from '../overview/watch-decisions.ts'
export type { HealthState, PartName, WatchedPart } from '../overview/watch-health.ts'

export const addOverview: AddRoutes = (server, context) => {
  const overview = createOverview(context)
  server.get('/api/overview/stream', (_request, reply) => {
    const stream = context.streams.open(reply)
    const stop = overview.watch((section, state) => stream.send(section, state))
    stream.closed.addEventListener('abort', stop, { once: true })
  })
}
