import type { Log } from '@portcullis/service-kit/log/log'
import { openClient } from '../connection/open-client.ts'
import {
  compare,
  type Migration,
  readMigrations,
  refuseUnknown,
  toChangedText,
} from '../migrate/files.ts'
import { readSchemaState } from '../migrate/state.ts'

interface CheckSchemaSettings {
  readonly url: string
  readonly schema: string
  readonly log: Pick<Log, 'warning'>
  /** Default: the files of this release; tests pass others. */
  readonly migrations?: readonly Migration[]
}

/**
 * Checks whether this release can serve on the tables, without changing them.
 * @throws {Error} with advice if it cannot.
 */
export async function checkSchema(settings: CheckSchemaSettings): Promise<void> {
  const { url, schema, log } = settings
  const migrations = settings.migrations ?? (await readMigrations())
  const client = await openClient(url, 'portcullis-auth check')
  try {
    const { applied } = await readSchemaState(client, schema)
    if (applied.size === 0) {
      throw new Error(
        `The tables do not exist (the schema "${schema}" has none): run auth migrate first.`,
      )
    }
    const found = compare(migrations, applied)
    refuseUnknown(found, schema)
    if (found.missing.length > 0) {
      const versions = found.missing.map(({ version }) => version).join(', ')
      throw new Error(
        `The tables in the schema "${schema}" belong to an earlier release (missing: ${versions}): ` +
          'run auth migrate first.',
      )
    }
    if (found.newer.length > 0) {
      log.warning(
        `The tables belong to a later release (${found.newer.join(', ')}) that is compatible with this one`,
      )
    }
    if (found.changed.length > 0) log.warning(toChangedText(found.changed))
  } finally {
    await client.end()
  }
}
