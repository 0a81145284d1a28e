import type { SecretTools } from './supabase/secrets.ts'
import type { SupabaseUrl } from './supabase/supabase-url.ts'

export interface ImportSettings {
  readonly from: SupabaseUrl
  readonly to: { readonly url: string; readonly schema: string }
  readonly tools: SecretTools
  readonly isDryRun: boolean
  /** If set, only rows that changed at this time, shortly before or later are read. */
  readonly since: Date | undefined
  /** The audiences of this server, the default one first. */
  readonly audiences: readonly string[]
  /** Rows per transaction. */
  readonly batchRows: number
  /** Whether a release of Supabase Auth is read that is later than the known ones. */
  readonly acceptsNewer: boolean
  /** Whether rows are deleted even if the source has lost many users. */
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
