import assert from 'node:assert/strict'
import type { WrittenFormat } from '../../../packages/auth/src/passwords/formats/password-format.ts'
import type { Drill } from '../drill.ts'
import { parseCopiedConfig } from './config.ts'

type HashBoxModule = typeof import('../../../packages/auth/src/tokens/hash-box.ts')
type FormatsModule = typeof import('../../../packages/auth/src/passwords/formats/index.ts')
type PasswordsModule = typeof import('../../../packages/auth/src/passwords/passwords.ts')

export const passwordFormat: Drill = {
  kind: 'password hash format',
  package: 'auth',
  file: 'src/passwords/formats/pigeon.ts',
  source: `
import type { WrittenFormat } from './password-format.ts'

const prefix = '$pigeon$'

export const pigeon: WrittenFormat = {
  names: ['pigeon'],
  example: 'pigeon ($pigeon$…)',
  accepts: (hash) => hash.startsWith(prefix),
  verify: async (password, hash) => hash === prefix + password,
  hash: async (password) => prefix + password,
  isCurrent: (hash) => hash.startsWith(prefix),
  createUnusable: () => prefix,
}
`,
  exported: 'pigeon',
  index: { file: 'src/passwords/formats/index.ts', list: 'formats' },
  help: ['pigeon, bcrypt, argon2id'],
  async prove(copy) {
    const { passwords: config } = await parseCopiedConfig(copy, { AUTH_PASSWORD_HASH: 'pigeon' })
    const formats = await copy.load<FormatsModule>('src/passwords/formats/index.ts')
    assert.match(formats.formatNames, /pigeon/)
    assert.match(formats.formatExamples, /\$pigeon\$/)
    const path = 'src/passwords/passwords.ts'
    const { createHashQueue, createPasswords } = await copy.load<PasswordsModule>(path)
    const queue = createHashQueue({ atOnce: 1, mostWaiting: 1 })
    const { createHashBox } = await copy.load<HashBoxModule>('src/tokens/hash-box.ts')
    const hashes = createHashBox({ currentId: undefined, byId: new Map() })
    const open = (written: WrittenFormat) => createPasswords({ queue, hashes, written })
    const passwords = open(formats.writtenFormats[config.hash])
    const user = { id: 'ada', encrypted_password: (await passwords.hash('secret')).toStored('ada') }
    assert.equal(user.encrypted_password, '$pigeon$secret')
    const kept = { isRight: true, isOutdated: false, reencrypted: undefined }
    assert.deepEqual(await passwords.check('secret', user), kept)
    // A server that writes another format reads the hash too, and replaces it.
    const others = open(formats.writtenFormats.bcrypt)
    assert.deepEqual(await others.check('secret', user), { ...kept, isOutdated: true })
  },
}
