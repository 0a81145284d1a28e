import { listKeys } from '../../tokens/statements.ts'
import { type KeyVerb, toKeyNames } from './verb.ts'

export const list: KeyVerb = {
  synopsis: '[NAME …]',
  summary: 'the versions of each key, when they were made and whether they are encrypted',
  async run({ db, names, io }) {
    const wanted = toKeyNames(names)
    for (const row of await db.run(listKeys)) {
      if (!wanted.some((name) => name === row.name)) continue
      const { name, version, created_at: createdAt, wrapped_with: fingerprint } = row
      const wait = Math.ceil(row.active_in_ms / 1_000)
      const words = [
        name.padEnd(16),
        `version ${version}`,
        `made ${createdAt.slice(0, 19)}Z`,
        ...(wait > 0 ? [`used in ${wait} s`] : []),
        fingerprint === null ? 'not encrypted' : `encrypted with the key ${fingerprint}`,
      ]
      io.stdout.write(`${words.join('  ')}\n`)
    }
  },
}
