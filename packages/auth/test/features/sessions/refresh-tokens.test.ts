import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { createRefreshTokens } from '../../../src/features/sessions/refresh-tokens.ts'
import { createKeyRing } from '../../../src/tokens/key-ring.ts'

const tokens = createRefreshTokens(createKeyRing(Buffer.alloc(32, 1)))

test('a token identifies its session and its position in the session', () => {
  fc.assert(
    fc.property(fc.uuid(), fc.nat({ max: 2 ** 32 - 1 }), (sessionId, counter) => {
      const text = tokens.encode({ sessionId, counter })
      assert.deepEqual(tokens.decode(text), { sessionId, counter })
      assert.equal(tokens.encode({ sessionId, counter }), text)
    }),
  )
})

test('a token that was changed or made with another key is invalid', () => {
  const text = tokens.encode({ sessionId: randomUUID(), counter: 7 })
  const bytes = Buffer.from(text, 'base64url')
  for (let at = 0; at < bytes.length; at += 1) {
    const changed = Buffer.from(bytes)
    changed[at] = (changed[at] ?? 0) ^ 1
    assert.equal(tokens.decode(changed.toString('base64url')), undefined, `byte ${at}`)
  }
  assert.equal(createRefreshTokens(createKeyRing(randomBytes(32))).decode(text), undefined)
  for (const other of ['', 'x', `${text}x`, text.slice(1), 'not a token', `${text}=`]) {
    assert.equal(tokens.decode(other), undefined)
  }
})
