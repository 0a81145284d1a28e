import assert from 'node:assert/strict'
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { Queries } from '../../../src/db/database.ts'
import {
  createImportedTokens,
  createSessionKeyBox,
} from '../../../src/features/sessions/imported-tokens.ts'
import { createRefreshTokens } from '../../../src/features/sessions/refresh-tokens.ts'
import { createKeyRing } from '../../../src/tokens/key-ring.ts'
import { newStoredToken, signToken } from '../../support/supabase-source/tokens.ts'

const keys = createKeyRing(randomBytes(32))
const sessionId = randomUUID()
const sessionKey = randomBytes(32)

/** Opens a database that returns this row, and records the statements. */
function open(row: object | undefined, ring = keys) {
  const statements: { readonly name: string; readonly values: Record<string, unknown> }[] = []
  const db = {
    async run({ name }: { name: string }, values: Record<string, unknown>) {
      statements.push({ name, values })
      return row === undefined ? [] : [row]
    },
  } as unknown as Queries
  return { tokens: createImportedTokens({ db, keys: ring }), statements }
}

const sealed = { sealed_key: createSessionKeyBox(keys).seal(sessionKey, sessionId) }

test('counters of any length are read from signed tokens', async () => {
  const { tokens } = open(sealed)
  for (const counter of [0, 1, 127, 128, 300, 16_384, 2 ** 21, 2 ** 28, 2 ** 31 - 1]) {
    const found = await tokens.find(signToken(sessionId, counter, sessionKey))
    assert.deepEqual(found, { sessionId, counter })
  }
  assert.equal(await tokens.find(signToken(sessionId, 2 ** 31, sessionKey)), undefined)
})

test('stored tokens are looked up by their hash', async () => {
  const { tokens, statements } = open({ session_id: sessionId, counter: 1 })
  for (const length of [12, 22] as const) {
    const token = newStoredToken(length)
    assert.deepEqual(await tokens.find(token), { sessionId, counter: 1 })
    const hash = createHash('sha256').update(token).digest()
    assert.deepEqual(statements.at(-1)?.values, { tokenHash: hash })
  }
})

test('text that cannot be a token of Supabase Auth causes no database query', async () => {
  const { tokens, statements } = open(undefined)
  const own = createRefreshTokens(createKeyRing(randomBytes(32)))
  const signed = signToken(sessionId, 5, sessionKey)
  for (const text of [
    '',
    'short',
    'ABCDEFGHIJKL',
    'a'.repeat(23),
    'a'.repeat(100_000),
    // A token of this server whose key was retired.
    own.encode({ sessionId, counter: 5 }),
    signed.slice(0, -1),
    `${signed}A`,
    signed.replace(/.{4}$/, 'AAAA'),
    Buffer.alloc(40, 1).toString('base64url'),
  ]) {
    assert.equal(await tokens.find(text), undefined, text.slice(0, 60))
  }
  assert.deepEqual(statements, [])
})

test('a token is unknown if no server key decrypts the key of its session', async () => {
  const { tokens, statements } = open(sealed, createKeyRing(randomBytes(32)))
  assert.equal(await tokens.find(signToken(sessionId, 5, sessionKey)), undefined)
  assert.equal(statements.length, 1)
})
