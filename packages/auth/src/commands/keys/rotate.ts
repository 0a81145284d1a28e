import { randomBytes } from 'node:crypto'
import { createWrappingKey } from '../../tokens/secret-box.ts'
import { activationMs, toOwner } from '../../tokens/server-keys.ts'
import { addKeyVersion } from '../../tokens/statements.ts'
import { type KeyVerb, readKey, toKeyNames } from './verb.ts'

export const rotate: KeyVerb = {
  synopsis: '[NAME …]',
  summary: 'add a new version, used from a minute later on; what older ones made stays valid',
  async run(ask) {
    const { db, secrets, io } = ask
    const [secret] = secrets
    const wrapping = secret === undefined ? undefined : createWrappingKey(secret)
    for (const name of toKeyNames(ask.names)) {
      const version = (await readKey(ask, name)).newest.version + 1
      const key = randomBytes(32)
      const value = wrapping?.wrap(key, toOwner(name, version)) ?? key
      // Two who do this at the same time: one of them finds the version taken.
      const fingerprint = wrapping?.fingerprint ?? null
      await db.run(addKeyVersion, { name, value, fingerprint, usedInMs: activationMs, version })
      io.stdout.write(`${name}: version ${version} is used in ${activationMs / 1_000} s\n`)
    }
    io.stdout.write('Later: "auth keys retire" removes the versions that nothing needs any more.\n')
  },
}
