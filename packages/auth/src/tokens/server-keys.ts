import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import type { Log } from '@portcullis/service-kit/log/log'
import { toReason } from '@portcullis/service-kit/text/reason'
import type { Queries } from '../db/database.ts'
import { type KeyName, type KeyRing, keyNames } from './key-ring.ts'
import {
  createWrappingKeys,
  type SecretKeys,
  type WrappingKey,
  type WrappingKeys,
} from './secret-box.ts'
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
  readonly secrets: SecretKeys
  readonly log: Pick<Log, 'warning'>
  readonly everyMs?: number
}

export interface ServerKeys extends Disposable {
  ring(name: KeyName): KeyRing
}

/** The delay before a new version is used, in which every process reads it several times. */
export const activationMs = 60_000
const readingMs = 15_000

interface Version {
  readonly key: KeyObject
  /** A time of `performance.now()`. */
  readonly activeAt: number
}

/**
 * Reads the keys, creates missing ones, and encrypts unencrypted ones with the first secret. New
 * versions are read periodically. @throws {Error} with advice if a key cannot be decrypted.
 */
export async function openServerKeys(settings: ServerKeysSettings): Promise<ServerKeys> {
  const { db, log, everyMs = readingMs } = settings
  const wrapping = createWrappingKeys(settings.secrets)
  let versions = await readVersions(db, wrapping)
  let hasFailed = false
  const read = async (): Promise<void> => {
    try {
      versions = await readVersions(db, wrapping)
      hasFailed = false
    } catch (error) {
      // The known keys keep working.
      if (!hasFailed) {
        log.warning(
          `New server keys cannot be read; the known keys stay in use: ${toReason(error)}`,
        )
      }
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
        if (active === undefined) throw new Error(`The server key ${name} is missing`)
        return active.key
      },
    }),
    [Symbol.dispose]: () => clearInterval(timer),
  }
}

async function readVersions(
  db: Queries,
  wrapping: WrappingKeys,
): Promise<ReadonlyMap<string, readonly Version[]>> {
  let rows = await db.run(listKeys)
  const missing = keyNames.filter((name) => !rows.some((row) => row.name === name))
  for (const name of missing) await makeFirst(db, name, wrapping)
  if (missing.length > 0) rows = await db.run(listKeys)
  const versions = new Map<string, Version[]>()
  for (const row of rows) {
    const key = unwrap(row, wrapping)
    const { current } = wrapping
    if (current !== undefined && row.wrapped_with !== current.fingerprint) {
      await rewrap(db, row, key, current)
    }
    const activeAt = performance.now() + row.active_in_ms
    const version = { key: createSecretKey(key), activeAt }
    versions.set(row.name, [...(versions.get(row.name) ?? []), version])
  }
  return versions
}

async function makeFirst(db: Queries, name: string, { current, all }: WrappingKeys): Promise<void> {
  const made = randomBytes(32)
  const [plain] =
    all.length === 0
      ? await db.run(keepPlainKey, { name, key: made })
      : await db.run(findPlainKey, { name })
  const key = plain?.value ?? made
  const value = current?.wrap(key, toOwner(name, 1)) ?? key
  await db.run(addFirstKey, { name, value, fingerprint: current?.fingerprint ?? null })
}

/** @param to undefined: the key is stored unencrypted. */
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

/** Returns the decrypted key of a row. @throws {Error} that names the missing setting. */
export function unwrap(row: KeyRow, { all }: Pick<WrappingKeys, 'all'>): Buffer {
  const { name, version, value, wrapped_with: fingerprint } = row
  if (fingerprint === null) return value
  const fitting = all.find((each) => each.fingerprint === fingerprint)
  if (fitting !== undefined) return fitting.unwrap(value, toOwner(name, version))
  const set = all.length === 0 ? 'is not set' : 'has another key'
  throw new Error(
    `The keys in the database are encrypted, but AUTH_SECRETS_KEY ${set}. Set it to the key that they ` +
      'were encrypted with. If it is lost, docs/auth-operations.md ("Keys") explains how to replace the keys.',
  )
}

export function toOwner(name: string, version: number): string {
  return `${name}:${version}`
}
