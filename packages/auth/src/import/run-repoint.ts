import { toCode, toReason } from '@portcullis/service-kit/text/reason'
import { ImportError } from './import-error.ts'
import { isSameDatabase, withBothDatabases } from './open-both-databases.ts'
import {
  applyRepointing,
  planRepointing,
  type RepointPlan,
  type RepointSettings,
} from './repoint.ts'
import type { SupabaseUrl } from './supabase/supabase-url.ts'

export interface RunRepointSettings {
  readonly from: SupabaseUrl
  readonly to: { readonly url: string; readonly schema: string }
  /** Whether the objects are to refer to the schema of Supabase Auth again. */
  readonly isReverse: boolean
  /** Whether the statements are run; otherwise they are only returned. */
  readonly isApplied: boolean
}

export interface RepointResult {
  readonly plan: RepointPlan
  readonly settings: RepointSettings
}

/**
 * @throws {ImportError} if the schemas are in different databases, or if rows refer to users who are
 * missing in the other schema.
 */
export async function runRepoint(settings: RunRepointSettings): Promise<RepointResult> {
  const { from, to, isReverse, isApplied } = settings
  return await withBothDatabases(from, to.url, async (clients) => {
    if (!(await isSameDatabase(clients))) {
      throw new ImportError(
        'The schemas are in different databases, so foreign keys and policies in one cannot refer to ' +
          'the other. Move your own tables first, or let this server use the database of Supabase Auth.',
      )
    }
    const schemas = { from: from.schema, to: to.schema }
    const direction = isReverse ? { from: schemas.to, to: schemas.from } : schemas
    const plan = await planRepointing(clients.own, direction)
    if (isApplied) await explainMissingUsers(() => applyRepointing(clients.own, plan), isReverse)
    return { plan, settings: direction }
  })
}

async function explainMissingUsers(apply: () => Promise<void>, isReverse: boolean): Promise<void> {
  try {
    await apply()
  } catch (error) {
    if (toCode(error) !== '23503') throw error
    throw new ImportError(
      `Rows of your tables refer to users who are missing in the other schema (${toReason(error)}). Copy these ` +
        `users with auth ${isReverse ? 'export' : 'import'}, or delete the rows.`,
      { cause: error },
    )
  }
}
