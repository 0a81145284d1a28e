import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hash as hashArgon2 } from '@node-rs/argon2'
import { hash as hashBcrypt } from '@node-rs/bcrypt'
import { createHashQueue } from '../../src/core/hash-queue.ts'
import { findPasswordFormat } from '../../src/core/password-formats.ts'
import { createPasswords } from '../../src/core/passwords.ts'

const queue = createHashQueue({ atOnce: 2, mostWaiting: 100 })

/** The example of Firebase's own scrypt programme: password `user1password`. */
const firebase =
  '$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==$42xEC+ixf3L2lw==$lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ=='

test('every format that may be imported is checked, and made anew at login', async () => {
  const passwords = createPasswords(queue)
  const hashes = {
    'bcrypt of cost 4': await hashBcrypt('user1password', { cost: 4 }),
    argon2id: await hashArgon2('user1password'),
    firebase,
  }
  for (const [name, hash] of Object.entries(hashes)) {
    const right = await passwords.check('user1password', hash)
    assert.deepEqual(right, { isRight: true, isOutdated: true }, name)
    assert.equal((await passwords.check('another', hash)).isRight, false, name)
  }
})

test('our own hashes are bcrypt of cost 10 and stay as they are', async () => {
  const passwords = createPasswords(queue)
  const hash = await passwords.hash('right')
  assert.match(hash, /^\$2b\$10\$/)
  assert.deepEqual(await passwords.check('right', hash), { isRight: true, isOutdated: false })
  assert.equal((await passwords.check('wrong', hash)).isRight, false)
})

test('nobody has the password of a user who has none', async () => {
  const passwords = createPasswords(queue)
  assert.equal((await passwords.check('', undefined)).isRight, false)
  assert.equal((await passwords.check('anything', undefined)).isRight, false)
})

test('hashes that are unknown, or made to be expensive, are not computed', () => {
  for (const hash of [
    '',
    'plain',
    '$2b$31$abcdefghijklmnopqrstuuABCDEFGHIJKLMNOPQRSTUVWXYZ01234',
    '$argon2d$v=19$m=65536,t=3,p=4$c2FsdHNhbHQ$aGFzaA',
    '$argon2id$v=19$m=9999999,t=3,p=4$c2FsdHNhbHQ$aGFzaA',
    firebase.replace('n=14', 'n=25'),
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
