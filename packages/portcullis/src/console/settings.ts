import type { FastifyInstance } from 'fastify'
import type { Mailbox } from '../mailbox/mailbox.ts'
import type { EventStreams } from './event-stream.ts'

/** What a console looks at. Each part is optional: its pages say what is missing. */
export interface ConsoleSettings {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  /** Names that the browser may call us by, besides those of this machine. */
  readonly allowedHosts?: readonly string[]
  /** Whoever has it may use the console. */
  readonly token: string
  readonly version: string
  readonly auth?: AuthTarget | undefined
  readonly ratelimit?: RatelimitTarget | undefined
  readonly graphql?: GraphqlTarget | undefined
  readonly mailbox?: Mailbox | undefined
}

export interface AuthTarget {
  readonly url: string
  /** An admin's token. It stays on this side: the browser never sees it. */
  readonly key: () => Promise<string>
}

export interface RatelimitTarget {
  /** Of `/rlconfig` and `/stats`. */
  readonly debugUrl: string
  /** Of `/json`, where known: without it no decision can be asked for. */
  readonly url?: string | undefined
  /** Where the rule files are, when they may be edited here. */
  readonly rulesDirectory?: string | undefined
}

export interface GraphqlTarget {
  readonly url: string
  /** Milliseconds since the epoch; not known for an external API. */
  readonly startedAt?: number | undefined
  /** With these our audits of it are not cut short by its limits. They stay on this side, too. */
  readonly auditHeaders?: Readonly<Record<string, string>> | undefined
}

/** What a group of routes is given. */
export interface ConsoleContext extends ConsoleSettings {
  readonly streams: EventStreams
}

/** Adds the routes of one page. */
export type AddRoutes = (server: FastifyInstance, context: ConsoleContext) => void
