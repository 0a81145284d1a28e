import type { EffectiveSetting } from '@portcullis/service-kit/settings/effective-settings'
import type { FastifyInstance } from 'fastify'
import type { Mailbox } from '../mailbox/mailbox.ts'
import type { EventStreams } from './event-stream.ts'

/** The servers that a console shows. Each is optional: its pages say what is missing. */
export interface ConsoleSettings {
  readonly host: string
  /** 0 picks a free port. */
  readonly port: number
  /** Host names that browsers may use, besides localhost and IP addresses. */
  readonly allowedHosts?: readonly string[]
  /** Grants access to the console. */
  readonly token: string
  readonly version: string
  readonly auth?: AuthTarget | undefined
  readonly ratelimit?: RatelimitTarget | undefined
  readonly graphql?: GraphqlTarget | undefined
  readonly mailbox?: Mailbox | undefined
}

export interface AuthTarget {
  readonly url: string
  /** Returns an admin token, which is never sent to the browser. */
  readonly key: () => Promise<string>
}

export interface RatelimitTarget {
  /** The base URL of `/rlconfig` and `/stats`. */
  readonly debugUrl: string
  /** The base URL of `/json`. Without it no decisions can be requested. */
  readonly url?: string | undefined
  /** DEBUG_TOKEN of the service, for pages that other machines may not read without it. */
  readonly debugToken?: string | undefined
  /** The folder of the rule files, if they may be edited here. */
  readonly rulesDirectory?: string | undefined
  /** The file that keeps the history of rules between starts. */
  readonly historyFile?: string | undefined
}

export interface GraphqlTarget {
  readonly url: string
  /** Milliseconds since the epoch; unknown for an external API. */
  readonly startedAt?: number | undefined
  /** The settings of the API; unknown for an external API. */
  readonly settings?: readonly EffectiveSetting[] | undefined
  /** Headers that exempt audits from the API's rate limits; never sent to the browser. */
  readonly auditHeaders?: Readonly<Record<string, string>> | undefined
}

/** The parameters of a group of routes. */
export interface ConsoleContext extends ConsoleSettings {
  readonly streams: EventStreams
}

/** Adds the routes of one page. */
export type AddRoutes = (server: FastifyInstance, context: ConsoleContext) => void
