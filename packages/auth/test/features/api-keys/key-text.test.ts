import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { createKeyText, parseKeyText, toKeyHash } from '../../../src/features/api-keys/key-text.ts'

test('a key has a prefix, its ID and a checksum, and only letters and digits', () => {
  fc.assert(
    fc.property(fc.uuid(), (id) => {
      const text = createKeyText(id)
      assert.match(text, /^pck_[0-9A-Za-z]{71}$/)
      assert.deepEqual(parseKeyText(text), { id, hash: toKeyHash(text) })
    }),
  )
})

test('a key with a changed character is recognised without asking the database', () => {
  const text = createKeyText(randomUUID())
  for (let at = 0; at < text.length; at += 1) {
    const other = text.charAt(at) === 'a' ? 'b' : 'a'
    assert.equal(parseKeyText(text.slice(0, at) + other + text.slice(at + 1)), undefined)
  }
  for (const wrong of ['', 'pck_', `${text}0`, ` ${text}`, `${text}\n`, text.slice(0, -1)]) {
    assert.equal(parseKeyText(wrong), undefined)
  }
})
