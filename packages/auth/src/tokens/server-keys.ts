import { randomBytes } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import type { Log } from '@portcullis/service-kit/log'
import type { Queries } from '../db/database.ts'
import { type KeyName, type KeyRing, keyNames } from './key-ring.ts'
import { createWrappingKey, type WrappingKey } from './secret-box.ts'
import {
  addFirstKey,
  findPlainKey,
  type KeyRow,
  keepPlainKey,
  listKeys,
  rewrapKey,
} from './statements.ts'

export interface ServerKeysSettings {
  readonly db: Queries
  /** AUTH_SECRETS_KEY. */
  readonly secrets: readonly string[]
  readonly log: Pick<Log, 'warning'>
  readonly everyMs?: number
}

export interface ServerKeys extends Disposable {
  ring(name: KeyName): KeyRing
}

/** How long all processes have to learn of a new version before one uses it; several readings. */
export const activationMs = 60_000
const readingMs = 15_000

interface Version {
  readonly key: Buffer
  /** Of `performance.now()`. */
  readonly activeAt: number
}

/**
 * Reads the keys, makes those that are missing, and encrypts those that are not encrypted with the first
 * of the secrets. New versions are read while the process runs. @throws {Error} that says what to do
 * where a key cannot be decrypted.
 */
export async function openServerKeys(settings: ServerKeysSettings): Promise<ServerKeys> {
  const { db, log, everyMs = readingMs } = settings
  const wrapping = settings.secrets.map(createWrappingKey)
  let versions = await readVersions(db, wrapping)
  let hasFailed = false
  const read = async (): Promise<void> => {
    try {
      versions = await readVersions(db, wrapping)
      hasFailed = false
    } catch (error) {
      // Those that are known keep working.
      const reason = error instanceof Error ? error.message : error
      if (!hasFailed) log.warning(`New server keys cannot be read at present: ${reason}`)
      hasFailed = true
    }
  }
  const timer = setInterval(() => void read(), everyMs)
  timer.unref()
  const allOf = (name: KeyName): readonly Version[] => versions.get(name) ?? []
  return {
    ring: (name) => ({
      all: () => allOf(name).map(({ key }) => key),
      current() {
        const known = allOf(name)
        const active = known.find(({ activeAt }) => activeAt <= performance.now()) ?? known.at(-1)
        if (active === undefined) throw new Error(`There is no server key ${name}`)
        return active.key
      },
    }),
    [Symbol.dispose]: () => clearInterval(timer),
  }
}

async function readVersions(
  db: Queries,
  wrapping: readonly WrappingKey[],
): Promise<ReadonlyMap<string, readonly Version[]>> {
  let rows = await db.run(listKeys)
  const missing = keyNames.filter((name) => !rows.some((row) => row.name === name))
  for (const name of missing) await makeFirst(db, name, wrapping)
  if (missing.length > 0) rows = await db.run(listKeys)
  const versions = new Map<string, Version[]>()
  for (const row of rows) {
    const key = unwrap(row, wrapping)
    const [first] = wrapping
    if (first !== undefined && row.wrapped_with !== first.fingerprint) {
      await rewrap(db, row, key, first)
    }
    const version = { key, activeAt: performance.now() + row.active_in_ms }
    versions.set(row.name, [...(versions.get(row.name) ?? []), version])
  }
  return versions
}

async function makeFirst(
  db: Queries,
  name: string,
  [first]: readonly WrappingKey[],
): Promise<void> {
  const made = randomBytes(32)
  const [plain] =
    first === undefined
      ? await db.run(keepPlainKey, { name, key: made })
      : await db.run(findPlainKey, { name })
  const key = plain?.value ?? made
  const value = first?.wrap(key, toOwner(name, 1)) ?? key
  await db.run(addFirstKey, { name, value, fingerprint: first?.fingerprint ?? null })
}

/** @param to undefined: the key is not encrypted from now on. */
export async function rewrap(
  db: Queries,
  { name, version, wrapped_with: before }: KeyRow,
  key: Buffer,
  to: WrappingKey | undefined,
): Promise<void> {
  const value = to?.wrap(key, toOwner(name, version)) ?? key
  const fingerprint = to?.fingerprint ?? null
  await db.run(rewrapKey, { name, version, value, fingerprint, before })
}

/** The key of a row. @throws {Error} that says which setting is missing. */
export function unwrap(row: KeyRow, wrapping: readonly WrappingKey[]): Buffer {
  const { name, version, value, wrapped_with: fingerprint } = row
  if (fingerprint === null) return value
  const fitting = wrapping.find((each) => each.fingerprint === fingerprint)
  if (fitting !== undefined) return fitting.unwrap(value, toOwner(name, version))
  const set = wrapping.length === 0 ? 'is not set' : 'has another key'
  throw new Error(
    `The keys in the database are encrypted, and AUTH_SECRETS_KEY ${set}. Set it to the key that they ` +
      'were encrypted with. If it is lost, docs/auth-operations.md ("Keys") tells how to begin anew.',
  )
}

export function toOwner(name: string, version: number): string {
  return `${name}:${version}`
}
