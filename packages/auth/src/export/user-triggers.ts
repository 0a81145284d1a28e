import type { Client } from 'pg'
import { ImportError } from '../import/import-error.ts'
import type { SupabaseUrl } from '../import/supabase/supabase-url.ts'
import {
  checkDeferredConstraints,
  disableTrigger,
  enableTrigger,
  listUserTriggers,
  type UserTrigger,
} from './statements/user-triggers.ts'

export interface TriggerGuard {
  /** Runs the steps, in a transaction, without firing triggers. Foreign keys stay in effect. */
  run<Result>(steps: () => Promise<Result>): Promise<Result>
}

/**
 * Finds the triggers of an application on tables of Supabase Auth. An export must not fire them: they
 * would repeat what has already happened, for example create a profile that exists.
 * Disabling them takes effect only in the transaction, so that other connections never miss a trigger.
 * The setting `session_replication_role` is not an alternative, because it also disables foreign keys,
 * which delete what belongs to a deleted user.
 * @throws {ImportError} if the role is not allowed to disable them.
 */
export async function openTriggerGuard(
  client: Client,
  { schema, option }: SupabaseUrl,
  tables: readonly string[],
): Promise<TriggerGuard> {
  const { rows: triggers } = await client.query<UserTrigger>(listUserTriggers, [schema, tables])
  const refused = triggers.filter(({ mayDisable }) => !mayDisable)
  if (refused.length > 0) throw new ImportError(toRefusal(refused, option))
  const alter = async (toStatement: (trigger: UserTrigger) => string) => {
    for (const trigger of triggers) await client.query(toStatement(trigger))
  }
  return {
    async run(steps) {
      await alter(disableTrigger)
      const result = await steps()
      if (triggers.length > 0) await client.query(checkDeferredConstraints)
      await alter(enableTrigger)
      return result
    },
  }
}

function toRefusal(triggers: readonly UserTrigger[], option: string): string {
  const names = triggers.map(({ table, name }) => `${name} on ${table}`)
  const statements = triggers.map((trigger) => `${disableTrigger(trigger)};`)
  return (
    `The export must not fire triggers (${names.join(', ')}), and the role in ${option} cannot disable them, because it ` +
    'does not own the tables. Use the role that owns them, such as supabase_auth_admin; or disable the triggers ' +
    `yourself until the export has finished: ${statements.join(' ')}`
  )
}
