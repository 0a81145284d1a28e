import type { SecretTools } from './supabase/secrets.ts'
import type { SupabaseUrl } from './supabase/supabase-url.ts'

export interface ImportSettings {
  readonly from: SupabaseUrl
  readonly to: { readonly url: string; readonly schema: string }
  readonly tools: SecretTools
  readonly isDryRun: boolean
  /** If set, only rows that have changed since shortly before this time are read. */
  readonly since: Date | undefined
  /** The audiences of this server, the default one first. */
  readonly audiences: readonly string[]
  /** Rows per transaction. */
  readonly batchRows: number
  /** Whether the tables of a later release of Supabase Auth than the tested ones are read. */
  readonly acceptsNewer: boolean
  /** Whether to continue, and delete users here, if the source has lost many users. */
  readonly acceptsRemovals: boolean
  readonly onProgress: (progress: ImportProgress) => void
  readonly onWarning: (message: string) => void
}

export interface ImportProgress {
  /** What the rows are called, such as `users`. */
  readonly label: string
  readonly done: number
  /** Undefined for a file, whose number of records is not known in advance. */
  readonly total: number | undefined
}
