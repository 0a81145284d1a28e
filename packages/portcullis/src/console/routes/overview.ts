import { type RangeName, rangeNames } from '../overview/decision-history.ts'
import { createOverview } from '../overview/overview.ts'
import type { AddRoutes } from '../settings.ts'

export type { RangeName } from '../overview/decision-history.ts'
export type { OverviewSections } from '../overview/overview.ts'
export type {
  DecisionsPoint,
  DecisionsState,
  HealthState,
  PartName,
  WatchedPart,
} from '../overview/watch.ts'
export type { ActivityState, AuditEvent } from '../overview/watch-activity.ts'

export const addRoutes: AddRoutes = (server, context) => {
  const overview = createOverview(context)
  server.addHook('onClose', async () => overview[Symbol.dispose]())
  server.get<{ Querystring: { range: RangeName } }>(
    '/api/overview/stream',
    {
      schema: {
        querystring: {
          type: 'object',
          properties: { range: { type: 'string', enum: [...rangeNames], default: '15m' } },
        },
      },
    },
    (request, reply) => {
      const stream = context.streams.open(reply)
      const stop = overview.watch(
        (section, state) => stream.send(section, state),
        request.query.range,
      )
      stream.closed.addEventListener('abort', stop, { once: true })
    },
  )
}
