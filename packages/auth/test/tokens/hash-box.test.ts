import assert from 'node:assert/strict'
import { createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { createHashBox } from '../../src/tokens/hash-box.ts'
import { encryptField } from '../support/supabase-source/tokens.ts'

const [first, second] = [randomBytes(32), randomBytes(32)]
const byId = new Map([
  ['a', first.toString('base64url')],
  ['b', second.toString('base64url')],
])
const hash = '$2b$10$abcdefghijklmnopqrstuuABCDEFGHIJKLMNOPQRSTUVWXYZ01234'
const [ada, bob] = ['00000000-0000-4000-8000-00000000000a', '00000000-0000-4000-8000-00000000000b']

test('hashes are encrypted in the format of Supabase Auth', () => {
  const box = createHashBox({ currentId: 'a', byId })
  const sealed = box.seal(hash, ada)
  const { key_id: keyId, alg, data, nonce } = JSON.parse(sealed)
  assert.deepEqual([keyId, alg], ['a', 'aes-gcm-hkdf'])
  const bytes = Buffer.from(data, 'base64')
  const key = Buffer.from(hkdfSync('sha256', first, '', ada, 32))
  const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64'))
  decipher.setAuthTag(bytes.subarray(-16))
  const text = Buffer.concat([decipher.update(bytes.subarray(0, -16)), decipher.final()])
  assert.equal(text.toString(), hash)
  assert.equal(box.open(encryptField(hash, ada, 'a', first), ada), hash)
  assert.notEqual(box.seal(hash, ada), sealed, 'each nonce is random')
})

test('unencrypted hashes and all known keys are accepted, but only the current key is up to date', () => {
  const box = createHashBox({ currentId: 'b', byId })
  const older = createHashBox({ currentId: 'a', byId }).seal(hash, ada)
  const sealed = box.seal(hash, ada)
  for (const stored of [hash, older, sealed]) assert.equal(box.open(stored, ada), hash)
  assert.deepEqual([hash, older, sealed].map(box.isCurrent), [false, false, true])
  const off = createHashBox({ currentId: undefined, byId })
  assert.equal(off.seal(hash, ada), hash)
  for (const stored of [hash, older, sealed]) assert.equal(off.open(stored, ada), hash)
  assert.deepEqual([hash, older, sealed].map(off.isCurrent), [true, true, true])
})

test('a hash that cannot be decrypted is an error that names the key and the setting', () => {
  const box = createHashBox({ currentId: 'a', byId })
  const sealed = box.seal(hash, ada)
  const setting = 'AUTH_SECURITY_DB_ENCRYPTION_DECRYPTION_KEYS'
  const unknown = createHashBox({ currentId: undefined, byId: new Map() })
  assert.throws(() => unknown.open(sealed, ada), {
    name: 'SettingError',
    message: `The password hash of user ${ada} cannot be decrypted: ${setting} does not contain its key, which has the name "a". Add that key.`,
  })
  const other = createHashBox({ currentId: undefined, byId: new Map([['a', byId.get('b') ?? '']]) })
  assert.throws(() => other.open(sealed, ada), new RegExp(`with the key "a" from ${setting}`))
  assert.throws(() => box.open(sealed, bob), /belongs to another user/)
  const short = JSON.stringify({ ...JSON.parse(sealed), data: '' })
  assert.throws(() => box.open(short, ada), /was modified/)
  assert.throws(() => createHashBox({ currentId: 'c', byId }), /does not contain the key "c"/)
})

test('texts that only look encrypted are left as they are', () => {
  const box = createHashBox({ currentId: 'a', byId })
  for (const text of ['{', '{}', '{"key_id":"a","alg":"none","data":"","nonce":""}']) {
    assert.equal(box.open(text, ada), text)
  }
})
