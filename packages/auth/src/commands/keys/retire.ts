import type { KeyName } from '../../tokens/key-ring.ts'
import { createSecretBox } from '../../tokens/secret-box.ts'
import {
  countDependents,
  deleteOlderKeys,
  listFactorSecrets,
  resealFactorSecret,
} from '../../tokens/statements.ts'
import { type KeyAsk, type KeyVerb, type KeyVersions, readKey, toKeyNames } from './verb.ts'

/** What ends with a version that something still needs. */
const ending: Readonly<Partial<Record<KeyName, string>>> = {
  refresh_tokens: 'sessions that were not refreshed since would end',
  one_time_tokens: 'codes, recovery codes among them, would no longer work',
}

export const retire: KeyVerb = {
  synopsis: '[NAME …] [--force]',
  summary: 'delete older versions that nothing needs any more',
  async run(ask) {
    for (const name of toKeyNames(ask.names)) {
      ask.io.stdout.write(`${name}: ${await retireKey(ask, name)}\n`)
    }
  },
}

async function retireKey(ask: KeyAsk, name: KeyName): Promise<string> {
  const { db, isForced } = ask
  const versions = await readKey(ask, name)
  const { rows, newest } = versions
  if (rows.length === 1) return 'has no older version'
  if (newest.active_in_ms > 0) return `version ${newest.version} is not in use yet; kept`
  const statement = countDependents[name]
  if (statement !== undefined && !isForced) {
    const [row] = await db.run(statement, { name })
    const count = row?.count ?? 0
    if (count > 0) return `kept: ${count} ${ending[name]}; --force deletes it all the same`
  }
  if (name === 'factor_secrets') await resealSecrets(ask, versions)
  await db.run(deleteOlderKeys, { name, newest: newest.version })
  return `version ${newest.version} is the only one now`
}

const atOnce = 500
const firstId = '00000000-0000-0000-0000-000000000000'

async function resealSecrets({ db }: KeyAsk, { keys }: KeyVersions): Promise<void> {
  const [newest] = keys
  if (newest === undefined) return
  const box = createSecretBox({ current: () => newest, all: () => keys })
  for (let after = firstId; ; ) {
    const rows = await db.run(listFactorSecrets, { after, limit: atOnce })
    for (const { id, secret } of rows) {
      await db.run(resealFactorSecret, {
        id,
        sealed: box.seal(box.open(secret, id), id),
        before: secret,
      })
    }
    const last = rows.at(-1)
    if (last === undefined || rows.length < atOnce) return
    after = last.id
  }
}
