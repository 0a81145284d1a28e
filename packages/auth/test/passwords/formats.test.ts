import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hash as hashArgon2 } from '@node-rs/argon2'
import { hash as hashBcrypt } from '@node-rs/bcrypt'
import { findPasswordFormat, writtenFormats } from '../../src/passwords/formats/index.ts'
import { createHashQueue, createPasswords } from '../../src/passwords/passwords.ts'

const queue = createHashQueue({ atOnce: 2, mostWaiting: 100 })

/** The example of Firebase's own scrypt programme: password `user1password`. */
const firebase =
  '$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==$42xEC+ixf3L2lw==$lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ=='

/** Where nothing else is written here, the defaults of the libraries. */
const imported = {
  'bcrypt of cost 4': await hashBcrypt('user1password', { cost: 4 }),
  'bcrypt of cost 11': await hashBcrypt('user1password', { cost: 11 }),
  // i in place of id, which the library has as a constant that cannot be imported.
  argon2i: await hashArgon2('user1password', { algorithm: 1, memoryCost: 64, timeCost: 1 }),
  'argon2id of other parameters': await hashArgon2('user1password', {
    memoryCost: 64,
    timeCost: 1,
  }),
  firebase,
}

for (const name of ['bcrypt', 'argon2id'] as const) {
  test(`every format that may be imported is checked, and made anew as ${name}`, async () => {
    const passwords = createPasswords(queue, writtenFormats[name])
    for (const [kind, hash] of Object.entries(imported)) {
      const right = await passwords.check('user1password', hash)
      assert.deepEqual(right, { isRight: true, isOutdated: true }, kind)
      assert.equal((await passwords.check('another', hash)).isRight, false, kind)
    }
  })
}

test('our own hashes are bcrypt of cost 10, or argon2id as OWASP has it, and stay so', async () => {
  const written = { bcrypt: /^\$2b\$10\$/, argon2id: /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/ }
  const hashes = new Map<string, string>()
  for (const name of ['bcrypt', 'argon2id'] as const) {
    const passwords = createPasswords(queue, writtenFormats[name])
    const hash = await passwords.hash('right')
    hashes.set(name, hash)
    assert.match(hash, written[name])
    assert.deepEqual(await passwords.check('right', hash), { isRight: true, isOutdated: false })
    assert.equal((await passwords.check('wrong', hash)).isRight, false)
  }
  const other = await createPasswords(queue, writtenFormats.argon2id).check(
    'right',
    hashes.get('bcrypt'),
  )
  assert.deepEqual(other, { isRight: true, isOutdated: true })
  const back = await createPasswords(queue).check('right', hashes.get('argon2id'))
  assert.deepEqual(back, { isRight: true, isOutdated: true })
})

test('what stands in for a missing hash is of the kind that is written', () => {
  assert.match(createPasswords(queue).createUnusable(), /^\$2b\$10\$/)
  assert.match(
    createPasswords(queue, writtenFormats.argon2id).createUnusable(),
    /^\$argon2id\$.+m=19456,t=2,p=1/,
  )
})

test('nobody has the password of a user who has none', async () => {
  for (const name of ['bcrypt', 'argon2id'] as const) {
    const passwords = createPasswords(queue, writtenFormats[name])
    assert.equal((await passwords.check('', undefined)).isRight, false)
    assert.equal((await passwords.check('anything', undefined)).isRight, false)
    assert.equal((await passwords.check('x', passwords.createUnusable())).isRight, false)
  }
})

test('hashes that are unknown, or made to be expensive or impossible, are not computed', () => {
  for (const hash of [
    '',
    'plain',
    '$2b$31$abcdefghijklmnopqrstuuABCDEFGHIJKLMNOPQRSTUVWXYZ01234',
    '$argon2d$v=19$m=65536,t=3,p=4$c2FsdHNhbHQ$aGFzaA',
    '$argon2id$v=19$m=9999999,t=3,p=4$c2FsdHNhbHQ$aGFzaA',
    firebase.replace('n=14', 'n=25'),
    firebase.replace('r=8', 'r=0'),
    firebase.replace('p=1', 'p=0'),
    // Below what RFC 9106 allows, or not as an encoder writes it.
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

test('a queue that is full sends callers away and goes on with the others', async () => {
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
