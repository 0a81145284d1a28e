import type { FastifyInstance } from 'fastify'
import type { EventStreams } from './event-stream.ts'
import type { ConsoleSettings } from './settings.ts'

/** What a group of routes is given. */
export interface ConsoleContext extends ConsoleSettings {
  readonly streams: EventStreams
}

/** Adds the routes of one page. */
export type AddRoutes = (server: FastifyInstance, context: ConsoleContext) => void
