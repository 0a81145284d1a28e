import { randomBytes } from 'node:crypto'
import type { CommandIo } from '@portcullis/service-kit/cli/command'
import type { Verb } from '@portcullis/service-kit/cli/verbs'
import { toCountText } from '@portcullis/service-kit/text/format'
import type { SecretsConfig } from '../../config/secrets.ts'
import type { Database } from '../../db/database.ts'
import { nilId } from '../../db/nil-id.ts'
import { createHashBox } from '../../tokens/hash-box.ts'
import { createKeyRing, type KeyName, keyNames } from '../../tokens/key-ring.ts'
import { createSecretBox, createWrappingKeys } from '../../tokens/secret-box.ts'
import { activationMs, rewrap, toOwner, unwrap as unwrapKey } from '../../tokens/server-keys.ts'
import {
  addKeyVersion,
  countDependents,
  deleteOlderKeys,
  type KeyRow,
  listFactorSecrets,
  listKeys,
  resealFactorSecret,
  restorePlainKey,
} from '../../tokens/statements.ts'
import { asConfigured, replaceHashes } from './password-hashes.ts'

/** A verb of `auth keys`. */
export interface KeyVerb extends Verb {
  /** Whether names of keys can follow; otherwise the verb changes all keys. */
  readonly takesNames: boolean
  /** Whether the verb has the option `--force`. */
  readonly takesForce?: boolean
  /** @throws {Error} with the reason if the operation fails. */
  run(input: KeyInput): Promise<void>
}

interface KeyInput {
  readonly db: Database
  readonly secrets: SecretsConfig
  /** The selected keys. */
  readonly names: readonly KeyName[]
  readonly isForced: boolean
  readonly io: CommandIo
}

interface KeyVersions {
  /** The newest is first; never empty. */
  readonly rows: readonly KeyRow[]
  readonly newest: KeyRow
  readonly keys: readonly Buffer[]
}

/** Reads all versions of a key. @throws {Error} */
async function readKey({ db, secrets }: KeyInput, name: KeyName): Promise<KeyVersions> {
  const wrapping = createWrappingKeys(secrets)
  const rows = (await db.run(listKeys)).filter((row) => row.name === name)
  const [newest] = rows
  if (newest === undefined) throw new Error(`The key ${name} is not in the database.`)
  return { rows, newest, keys: rows.map((row) => unwrapKey(row, wrapping)) }
}

const list: KeyVerb = {
  synopsis: '[NAME …]',
  summary: 'list the versions of each key, when they were created and whether they are\nencrypted',
  takesNames: true,
  async run({ db, names, io }) {
    for (const row of await db.run(listKeys)) {
      if (!names.some((name) => name === row.name)) continue
      const { name, version, created_at: createdAt, wrapped_with: fingerprint } = row
      const wait = Math.ceil(row.active_in_ms / 1_000)
      const cells = [
        name.padEnd(16),
        `version ${version}`,
        `created ${createdAt.slice(0, 19)}Z`,
        ...(wait > 0 ? [`active in ${wait} s`] : []),
        fingerprint === null ? 'not encrypted' : `encrypted with key ${fingerprint}`,
      ]
      io.stdout.write(`${cells.join('  ')}\n`)
    }
  },
}

const rotate: KeyVerb = {
  synopsis: '[NAME …]',
  summary:
    'add a new version that is used after one minute; tokens and codes of older\nversions stay valid',
  takesNames: true,
  async run(input) {
    const { db, secrets, io } = input
    const { current: wrapping } = createWrappingKeys(secrets)
    for (const name of input.names) {
      const version = (await readKey(input, name)).newest.version + 1
      const key = randomBytes(32)
      const value = wrapping?.wrap(key, toOwner(name, version)) ?? key
      // If two operators do this at the same time, one of them gets an error that the version
      // exists.
      const fingerprint = wrapping?.fingerprint ?? null
      await db.run(addKeyVersion, { name, value, fingerprint, usedInMs: activationMs, version })
      io.stdout.write(`${name}: version ${version} becomes active in ${activationMs / 1_000} s\n`)
    }
    io.stdout.write('Run "auth keys retire" later to delete versions that are no longer needed.\n')
  },
}

/** What becomes invalid if a version that is still needed is deleted. */
const ending: Readonly<Partial<Record<KeyName, (count: number) => string>>> = {
  refresh_tokens: (count) =>
    `${toCountText(count, 'session that has', 'sessions that have')} not been refreshed since the rotation would end`,
  one_time_tokens: (count) =>
    `${toCountText(count, 'code')} (including recovery codes) would no longer work`,
}

const retire: KeyVerb = {
  synopsis: '[NAME …] [--force]',
  summary: 'delete older versions that are no longer needed',
  takesNames: true,
  takesForce: true,
  async run(input) {
    for (const name of input.names) {
      input.io.stdout.write(`${name}: ${await retireKey(input, name)}\n`)
    }
  },
}

async function retireKey(input: KeyInput, name: KeyName): Promise<string> {
  const { db, isForced } = input
  const versions = await readKey(input, name)
  const { rows, newest } = versions
  if (rows.length === 1) return 'has no older version'
  if (newest.active_in_ms > 0)
    return `version ${newest.version} is not active yet; older versions are kept`
  const statement = countDependents[name]
  if (statement !== undefined && !isForced) {
    const [row] = await db.run(statement, { name })
    const count = row?.count ?? 0
    if (count > 0)
      return `kept: ${ending[name]?.(count)}; use --force to delete the older versions anyway`
  }
  if (name === 'factor_secrets') await resealSecrets(input, versions)
  await db.run(deleteOlderKeys, { name, newest: newest.version })
  return `version ${newest.version} is now the only version`
}

const batchRows = 500

async function resealSecrets({ db }: KeyInput, { keys }: KeyVersions): Promise<void> {
  const [newest, ...older] = keys
  if (newest === undefined) return
  const box = createSecretBox(createKeyRing(newest, ...older))
  for (let after = nilId; ; ) {
    const rows = await db.run(listFactorSecrets, { after, limit: batchRows })
    for (const { id, secret } of rows) {
      await db.run(resealFactorSecret, {
        id,
        sealed: box.seal(box.open(secret, id), id),
        before: secret,
      })
    }
    const last = rows.at(-1)
    if (last === undefined || rows.length < batchRows) return
    after = last.id
  }
}

const passwords: KeyVerb = {
  synopsis: '',
  summary:
    'encrypt all password hashes with the current key; decrypt them if\nAUTH_SECURITY_DB_ENCRYPTION_ENCRYPT is false',
  takesNames: false,
  async run({ db, secrets, io }) {
    const hashes = createHashBox(secrets.hashes)
    const count = await replaceHashes(db, asConfigured(hashes))
    const change = hashes.encrypts
      ? `encrypted with the key ${secrets.hashes.currentId}`
      : 'decrypted'
    io.stdout.write(
      `${toCountText(count, 'password hash was', 'password hashes were')} ${change}.\n`,
    )
  },
}

const unwrap: KeyVerb = {
  synopsis: '',
  summary:
    'store all keys and password hashes unencrypted, so that servers can start\nwithout AUTH_SECRETS_KEY',
  takesNames: false,
  async run(input) {
    const { db, secrets, io } = input
    const hashes = createHashBox(secrets.hashes)
    await replaceHashes(db, hashes.open)
    for (const name of keyNames) {
      const { rows, keys } = await readKey(input, name)
      for (const [at, row] of rows.entries()) {
        const key = keys[at]
        if (key !== undefined && row.wrapped_with !== null) await rewrap(db, row, key, undefined)
      }
    }
    // The table rejects unencrypted keys until the last one is decrypted.
    for (const name of keyNames) {
      const { keys } = await readKey(input, name)
      await db.run(restorePlainKey, { name, key: keys[0] })
    }
    io.stdout.write('The keys and password hashes are no longer encrypted.\n')
  },
}

/** The order in which help lists the verbs. */
export const keyVerbs: Readonly<Record<string, KeyVerb>> = {
  list,
  rotate,
  retire,
  passwords,
  unwrap,
}
