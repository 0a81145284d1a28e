import { ImportError } from './import-error.ts'
import { isSameDatabase, withBoth } from './open-both.ts'
import {
  applyRepointing,
  findRepointing,
  type Repointing,
  type RepointSettings,
} from './repoint.ts'
import type { SourceUrl } from './supabase/source-url.ts'
import { hasCode } from './target-writer.ts'

export interface RunRepointSettings {
  readonly from: SourceUrl
  readonly to: { readonly url: string; readonly schema: string }
  /** Whether objects are pointed back to the schema of Supabase Auth. */
  readonly isReverse: boolean
  readonly isApplied: boolean
}

export interface RepointResult {
  readonly repointing: Repointing
  readonly settings: RepointSettings
}

/** @throws {ImportError} if the schemas are in different databases. */
export async function runRepoint(settings: RunRepointSettings): Promise<RepointResult> {
  const { from, to, isReverse, isApplied } = settings
  return await withBoth(from, to.url, async (clients) => {
    if (!(await isSameDatabase(clients))) {
      throw new ImportError(
        'The schemas are in different databases, so no foreign key or policy can refer to both. Move your own ' +
          'tables first, or let this server use the database of Supabase Auth.',
      )
    }
    const schemas = { from: from.schema, to: to.schema }
    const direction = isReverse ? { from: schemas.to, to: schemas.from } : schemas
    const repointing = await findRepointing(clients.target, direction)
    if (isApplied) await explaining(() => applyRepointing(clients.target, repointing))
    return { repointing, settings: direction }
  })
}

async function explaining(apply: () => Promise<void>): Promise<void> {
  try {
    await apply()
  } catch (error) {
    if (!hasCode(error, '23503') || !(error instanceof Error)) throw error
    throw new ImportError(
      `Rows of your tables refer to users that are not in the schema (${error.message}). Import these users, or ` +
        'delete the rows.',
      { cause: error },
    )
  }
}
