import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findPasswordFormat, passwordFormats } from '../../src/core/password-formats.ts'
import { createUnusableHash } from '../../src/core/unusable-hash.ts'

test('an unusable hash is one that bcrypt reads, and no password fits', async () => {
  const hash = createUnusableHash()
  assert.equal(findPasswordFormat(hash), passwordFormats.bcrypt)
  assert.equal(passwordFormats.bcrypt.isOutdated(hash), false)
  for (const password of ['', hash, 'password']) {
    assert.equal(await passwordFormats.bcrypt.verify(password, hash), false)
  }
  assert.notEqual(createUnusableHash(), hash)
})
