import type { Mailbox } from '../mailbox/mailbox.ts'
import type { PartName, Ports } from './ports.ts'
import type { Secrets } from './secrets.ts'

/** What all parts of one start have in common. */
export interface World {
  readonly host: string
  readonly publicUrl?: string
  readonly allowedHosts: readonly string[]
  readonly ports: Ports
  /** Where state is kept from one start to the next. */
  readonly folder: string
  readonly secrets: Secrets
  readonly version: string
  /** The environment of the command, which the processes of parts inherit. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Which parts run: some do without others. */
  readonly has: ReadonlySet<PartName>
  /** Fires when everything has to stop, also what still starts. */
  readonly stopping: AbortSignal
  /** Tells the person at the terminal what a part complains about. */
  readonly complain: (part: PartName, words: string) => void
  /** There once its part has started. */
  mailbox?: Mailbox
}

export interface RunningPart {
  stop(): Promise<void>
  /** Resolves when it ends without being told to, with the reason. */
  readonly lost?: Promise<string>
}

/** Starts a part. @throws {PartStartError} with a reason for the person at the terminal. */
export type StartPart = (world: World) => Promise<RunningPart>
