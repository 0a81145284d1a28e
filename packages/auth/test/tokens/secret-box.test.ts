import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { createKeyRing } from '../../src/tokens/key-ring.ts'
import { createSecretBox } from '../../src/tokens/secret-box.ts'

test('decryption returns the secret, and every ciphertext is different', () => {
  const box = createSecretBox(createKeyRing(randomBytes(32)))
  const secret = randomBytes(20)
  const [one, other] = [box.seal(secret, 'row'), box.seal(secret, 'row')]
  assert.deepEqual(box.open(one, 'row'), secret)
  assert.deepEqual(box.open(other, 'row'), secret)
  assert.notDeepEqual(one, other)
  assert.equal(one.includes(secret), false)
})

test('a ciphertext that was changed, moved to another row or encrypted with another key is refused', () => {
  const box = createSecretBox(createKeyRing(randomBytes(32)))
  const sealed = box.seal(Buffer.from('secret'), 'row')
  const isRefused = (open: () => Buffer) => assert.throws(open, /authenticate|Invalid/)
  isRefused(() => box.open(sealed, 'other row'))
  isRefused(() => createSecretBox(createKeyRing(randomBytes(32))).open(sealed, 'row'))
  for (let at = 0; at < sealed.length; at += 1) {
    const changed = Buffer.from(sealed)
    changed[at] = (changed[at] ?? 0) ^ 1
    isRefused(() => box.open(changed, 'row'))
  }
  isRefused(() => box.open(sealed.subarray(0, 20), 'row'))
})
