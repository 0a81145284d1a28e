import type { CommandIo } from '@portcullis/service-kit/command'
import type { Database } from '../../db/database.ts'
import { type KeyName, keyNames } from '../../tokens/key-ring.ts'
import { createWrappingKey } from '../../tokens/secret-box.ts'
import { unwrap } from '../../tokens/server-keys.ts'
import { type KeyRow, listKeys } from '../../tokens/statements.ts'

/** What `auth keys` may be asked to do. */
export interface KeyVerb {
  /** What follows the name of the verb. */
  readonly synopsis: string
  /** One line. */
  readonly summary: string
  /** @throws {Error} with what keeps it from being done. */
  run(ask: KeyAsk): Promise<void>
}

export interface KeyAsk {
  readonly db: Database
  /** AUTH_SECRETS_KEY. */
  readonly secrets: readonly string[]
  /** Names of keys; none: all of them. */
  readonly names: readonly string[]
  readonly isForced: boolean
  readonly io: CommandIo
}

/** Those that are meant. @throws {Error} for a name that no key has. */
export function toKeyNames(names: readonly string[]): readonly KeyName[] {
  const unknown = names.find((name) => !keyNames.some((known) => known === name))
  if (unknown !== undefined) {
    throw new Error(
      `There is no key ${JSON.stringify(unknown)}; there are: ${keyNames.join(', ')}.`,
    )
  }
  return names.length === 0 ? keyNames : keyNames.filter((name) => names.includes(name))
}

export interface KeyVersions {
  /** The newest first; never empty. */
  readonly rows: readonly KeyRow[]
  readonly newest: KeyRow
  readonly keys: readonly Buffer[]
}

/** All versions of a key. @throws {Error} */
export async function readKey({ db, secrets }: KeyAsk, name: KeyName): Promise<KeyVersions> {
  const wrapping = secrets.map(createWrappingKey)
  const rows = (await db.run(listKeys)).filter((row) => row.name === name)
  const [newest] = rows
  if (newest === undefined) throw new Error(`There is no key ${name} in the database.`)
  return { rows, newest, keys: rows.map((row) => unwrap(row, wrapping)) }
}
