import type { Mailbox } from '../mailbox/mailbox.ts'
import type { PartName, Ports } from './ports.ts'
import type { Secrets } from './secrets.ts'

/** The settings that all parts of one start share. */
export interface UpContext {
  readonly host: string
  readonly publicUrl?: string
  readonly allowedHosts: readonly string[]
  readonly ports: Ports
  /** The folder for state that is kept between starts. */
  readonly folder: string
  readonly secrets: Secrets
  readonly version: string
  /** The environment of the command, which the processes of parts inherit. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** The parts that run; some depend on which others do. */
  readonly has: ReadonlySet<PartName>
  /** Aborted when everything has to stop, including parts that are still starting. */
  readonly stopping: AbortSignal
  /** Prints a warning or error of a part in the terminal. */
  readonly warn: (part: PartName, message: string) => void
  /** Set once the mailbox has started. */
  mailbox?: Mailbox
}

export interface RunningPart {
  stop(): Promise<void>
  /** Resolves with the reason if the part ends unexpectedly. */
  readonly lost?: Promise<string>
}

/** Starts a part. @throws {PartStartError} with a message for the terminal. */
export type StartPart = (context: UpContext) => Promise<RunningPart>
