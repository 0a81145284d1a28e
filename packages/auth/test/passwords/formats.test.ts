import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hash as hashArgon2 } from '@node-rs/argon2'
import { hash as hashBcrypt } from '@node-rs/bcrypt'
import { findPasswordFormat, writtenFormats } from '../../src/passwords/formats/index.ts'
import { createHashQueue, createPasswords } from '../../src/passwords/passwords.ts'
import { createHashBox } from '../../src/tokens/hash-box.ts'

const queue = createHashQueue({ atOnce: 2, mostWaiting: 100 })
const hashes = createHashBox({ currentId: undefined, byId: new Map() })
const open = (name: keyof typeof writtenFormats) =>
  createPasswords({ queue, hashes, written: writtenFormats[name] })
const toOwner = (hash: string | undefined) => ({ id: 'a user', encrypted_password: hash ?? null })

/** The result for hashes that are not encrypted. */
const plain = { reencrypted: undefined }

/** The example from the Firebase scrypt repository; the password is `user1password`. */
const firebase =
  '$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==$42xEC+ixf3L2lw==$lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ=='

/** Parameters that are not given are the defaults of the libraries. */
const imported = {
  'bcrypt of cost 4': await hashBcrypt('user1password', { cost: 4 }),
  'bcrypt of cost 11': await hashBcrypt('user1password', { cost: 11 }),
  // The value 1 is argon2i; the library exports it as a const enum that cannot be imported.
  argon2i: await hashArgon2('user1password', { algorithm: 1, memoryCost: 64, timeCost: 1 }),
  'argon2id with other parameters': await hashArgon2('user1password', {
    memoryCost: 64,
    timeCost: 1,
  }),
  firebase,
}

for (const name of ['bcrypt', 'argon2id'] as const) {
  test(`every importable format is verified and rehashed as ${name}`, async () => {
    const passwords = open(name)
    for (const [kind, hash] of Object.entries(imported)) {
      const right = await passwords.check('user1password', toOwner(hash))
      assert.deepEqual(right, { ...plain, isRight: true, isOutdated: true }, kind)
      assert.equal((await passwords.check('another', toOwner(hash))).isRight, false, kind)
    }
  })
}

test('new hashes are bcrypt with cost 10 or argon2id with the OWASP parameters, and need no rehash', async () => {
  const written = { bcrypt: /^\$2b\$10\$/, argon2id: /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/ }
  const byName = new Map<string, string>()
  for (const name of ['bcrypt', 'argon2id'] as const) {
    const passwords = open(name)
    const hash = (await passwords.hash('right')).toStored('a user')
    byName.set(name, hash)
    assert.match(hash, written[name])
    assert.deepEqual(await passwords.check('right', toOwner(hash)), {
      ...plain,
      isRight: true,
      isOutdated: false,
    })
    assert.equal((await passwords.check('wrong', toOwner(hash))).isRight, false)
  }
  const other = await open('argon2id').check('right', toOwner(byName.get('bcrypt')))
  assert.deepEqual(other, { ...plain, isRight: true, isOutdated: true })
  const back = await open('bcrypt').check('right', toOwner(byName.get('argon2id')))
  assert.deepEqual(back, { ...plain, isRight: true, isOutdated: true })
})

test('the placeholder for a missing hash has the configured format', () => {
  assert.match(open('bcrypt').createUnusable(), /^\$2b\$10\$/)
  assert.match(open('argon2id').createUnusable(), /^\$argon2id\$.+m=19456,t=2,p=1/)
})

test('no password matches for a user without one', async () => {
  for (const name of ['bcrypt', 'argon2id'] as const) {
    const passwords = open(name)
    assert.equal((await passwords.check('', undefined)).isRight, false)
    assert.equal((await passwords.check('anything', undefined)).isRight, false)
    assert.equal((await passwords.check('anything', toOwner(undefined))).isRight, false)
    assert.equal((await passwords.check('x', toOwner(passwords.createUnusable()))).isRight, false)
  }
})

test('hashes that are unknown, too expensive or invalid are not computed', () => {
  for (const hash of [
    '',
    'plain',
    '$2b$31$abcdefghijklmnopqrstuuABCDEFGHIJKLMNOPQRSTUVWXYZ01234',
    '$argon2d$v=19$m=65536,t=3,p=4$c2FsdHNhbHQ$aGFzaA',
    '$argon2id$v=19$m=9999999,t=3,p=4$c2FsdHNhbHQ$aGFzaA',
    firebase.replace('n=14', 'n=25'),
    firebase.replace('r=8', 'r=0'),
    firebase.replace('p=1', 'p=0'),
    // These parameters are below the minimum of RFC 9106 or not in the encoded form.
    '$argon2id$v=19$m=4,t=1,p=1$c2FsdHNhbHQ$aGFzaGhhc2g',
    '$argon2id$v=19$m=64,t=0,p=1$c2FsdHNhbHQ$aGFzaGhhc2g',
    '$argon2id$v=19$m=64,t=1,p=0$c2FsdHNhbHQ$aGFzaGhhc2g',
    '$argon2id$v=19$m=64,t=1,p=1$c2E$aGFzaGhhc2g',
    '$argon2id$v=19$m=64,t=1,p=1$c2FsdHNhbHQ$aGE',
    '$argon2id$v=19$m=64,t=1,p=1$c2FsdHNhbHQx1$aGFzaGhhc2g',
    '$argon2id$v=19$m=64,t=1,p=1,keyid=Zm9v$c2FsdHNhbHQ$aGFzaGhhc2g',
  ]) {
    assert.equal(findPasswordFormat(hash), undefined, hash)
  }
})

test('a full queue refuses new callers and serves the waiting ones', async () => {
  const small = createHashQueue({ atOnce: 1, mostWaiting: 1 })
  const gate = Promise.withResolvers<void>()
  const first = small.run(() => gate.promise.then(() => 'first'))
  const second = small.run(async () => 'second')
  await assert.rejects(
    small.run(async () => 'third'),
    { code: 'hashing_overloaded', status: 503 },
  )
  gate.resolve()
  assert.deepEqual(await Promise.all([first, second]), ['first', 'second'])
  assert.equal(await small.run(async () => 'fourth'), 'fourth')
})
