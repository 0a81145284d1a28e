import { keyNames } from '../../tokens/key-ring.ts'
import { rewrap } from '../../tokens/server-keys.ts'
import { restorePlainKey } from '../../tokens/statements.ts'
import { type KeyVerb, readKey } from './verb.ts'

export const unwrap: KeyVerb = {
  synopsis: '',
  summary: 'store all keys without encryption, before servers start without AUTH_SECRETS_KEY',
  async run(ask) {
    const { db, io } = ask
    for (const name of keyNames) {
      const { rows, keys } = await readKey(ask, name)
      for (const [at, row] of rows.entries()) {
        const key = keys[at]
        if (key !== undefined && row.wrapped_with !== null) await rewrap(db, row, key, undefined)
      }
    }
    // Not before the last is decrypted: until then the table takes none.
    for (const name of keyNames) {
      const { keys } = await readKey(ask, name)
      await db.run(restorePlainKey, { name, key: keys[0] })
    }
    io.stdout.write('The keys are not encrypted any more.\n')
  },
}
