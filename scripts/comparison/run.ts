import type { createProgress } from '@portcullis/bench-kit/progress'
import type { Workspace } from './workspace.ts'

export interface Settings {
  /** How many times each subject is measured. */
  readonly rounds: number
  /** Decisions in a round, with counters in memory. */
  readonly calls: number
  /** The number of keys in the large case. */
  readonly keys: number
  /** HTTP requests in a round. */
  readonly requests: number
}

/** The context of every part of a comparison. */
export interface Run {
  readonly workspace: Workspace
  readonly settings: Settings
  readonly progress: ReturnType<typeof createProgress>
}

/** Sections of the page, by name. */
export type Sections = Readonly<Record<string, string>>
