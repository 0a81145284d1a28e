import assert from 'node:assert/strict'
import crypto, { createHash, randomBytes, randomUUID } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { test } from 'node:test'
import type { Queries } from '../../src/db/database.ts'
import { createKeyText, isSameHash, toKeyHash } from '../../src/features/api-keys/key-text.ts'
import {
  createImportedTokens,
  createSessionKeyBox,
} from '../../src/features/sessions/imported-tokens.ts'
import { matchesVerifier } from '../../src/features/sessions/pkce.ts'
import { createProofNonces } from '../../src/features/sessions/proof-nonces.ts'
import { createRefreshTokens } from '../../src/features/sessions/refresh-tokens.ts'
import { createTokenSigner } from '../../src/tokens/json-web-token.ts'
import { createKeyRing } from '../../src/tokens/key-ring.ts'
import { createOneTimeTokens } from '../../src/tokens/one-time-tokens.ts'
import { createSigningKeys } from '../../src/tokens/signing-keys.ts'
import { signToken } from '../support/supabase-source/tokens.ts'

const compare = crypto.timingSafeEqual
let compared: (readonly [NodeJS.ArrayBufferView, NodeJS.ArrayBufferView])[] = []
crypto.timingSafeEqual = (one, other) => {
  compared.push([one, other])
  return compare(one, other)
}
syncBuiltinESMExports()

/** The values that a check compared in constant time, and its result. */
function watch<Result>(check: () => Result) {
  compared = []
  let result: Result | 'refused'
  try {
    result = check()
  } catch {
    result = 'refused'
  }
  return { result, count: compared.length }
}

/** Changes the last character, which is the hardest to find by timing. */
function change(text: string): string {
  const bytes = Buffer.from(text, 'base64url')
  bytes.writeUInt8(bytes.readUInt8(bytes.length - 5) ^ 1, bytes.length - 5)
  return bytes.toString('base64url')
}

test('signatures of access tokens are compared in constant time (property 35)', () => {
  const keys = createSigningKeys({ secret: 'x'.repeat(32), keyId: undefined, keys: undefined })
  const signer = createTokenSigner(keys)
  const token = signer.sign({ sub: randomUUID() })
  const [head, body, signature = ''] = token.split('.')
  assert.equal(watch(() => signer.verify(token, 0)).count, 1)
  const forged = `${head}.${body}.${change(signature)}`
  assert.deepEqual(
    watch(() => signer.verify(forged, 0)),
    { result: 'refused', count: 1 },
  )
})

test('refresh tokens are compared in constant time (property 35)', () => {
  const tokens = createRefreshTokens(createKeyRing(randomBytes(32)))
  const token = tokens.encode({ sessionId: randomUUID(), counter: 7 })
  assert.equal(watch(() => tokens.decode(token)).count, 1)
  const bytes = Buffer.from(token, 'base64url')
  // The last byte of the keyed hash is changed and the checksum is recomputed, which anyone can do.
  bytes.writeUInt8(bytes.readUInt8(36) ^ 1, 36)
  createHash('sha256').update(bytes.subarray(0, 37)).digest().copy(bytes, 37, 0, 4)
  assert.deepEqual(
    watch(() => tokens.decode(bytes.toString('base64url'))),
    { result: undefined, count: 1 },
  )
})

test('signatures of imported refresh tokens are compared in constant time (property 35)', async () => {
  const keys = createKeyRing(randomBytes(32))
  const [sessionId, sessionKey] = [randomUUID(), randomBytes(32)]
  const sealed = createSessionKeyBox(keys).seal(sessionKey, sessionId)
  const db = { run: async () => [{ sealed_key: sealed }] } as unknown as Queries
  const tokens = createImportedTokens({ db, keys })
  compared = []
  assert.deepEqual(await tokens.find(signToken(sessionId, 7, sessionKey)), {
    sessionId,
    counter: 7,
  })
  assert.equal(compared.length, 1)
  compared = []
  assert.equal(await tokens.find(signToken(sessionId, 7, randomBytes(32))), undefined)
  assert.equal(compared.length, 1)
})

test('API keys are compared in constant time (property 35)', () => {
  const [stored, other] = [createKeyText(randomUUID()), createKeyText(randomUUID())]
  for (const [text, result] of [
    [stored, true],
    [other, false],
  ] as const) {
    assert.deepEqual(
      watch(() => isSameHash(toKeyHash(text), toKeyHash(stored))),
      { result, count: 1 },
    )
  }
  // A key that does not exist takes the same time.
  assert.deepEqual(
    watch(() => isSameHash(toKeyHash(other), null)),
    { result: false, count: 1 },
  )
})

test('nonces of DPoP are compared in constant time (property 35)', () => {
  const nonces = createProofNonces(createKeyRing(randomBytes(32)))
  const nonce = nonces.current(0)
  assert.deepEqual(
    watch(() => nonces.accepts(nonce, 0)),
    { result: true, count: 1 },
  )
  // It is compared with that of the period before as well.
  assert.deepEqual(
    watch(() => nonces.accepts(change(nonce), 0)),
    { result: false, count: 2 },
  )
})

test('PKCE verifiers are compared in constant time (property 35)', () => {
  const verifier = randomBytes(32).toString('base64url')
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  for (const [method, expected] of [
    ['s256', challenge],
    ['plain', verifier],
  ] as const) {
    const check = (text: string) =>
      watch(() => matchesVerifier({ challenge: expected, method }, text))
    assert.deepEqual(check(verifier), { result: true, count: 1 })
    assert.deepEqual(check(change(verifier)), { result: false, count: 1 })
  }
})

test('codes and links are looked up by hashes that a guess cannot approach (property 35)', () => {
  const tokens = createOneTimeTokens(createKeyRing(randomBytes(32)))
  const { digits, linkToken } = tokens.create(6, false)
  const near = (text: string) => text.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
  const pairs = [
    [tokens.hashLink(linkToken), tokens.hashLink(near(linkToken))],
    [tokens.hashDigits(digits, 'a@b.c'), tokens.hashDigits(near(digits), 'a@b.c')],
    [tokens.hashDigits(digits, 'a@b.c'), tokens.hashDigits(digits, 'a@b.d')],
    // Without the key of the server, the hash of a code cannot be computed.
    [
      tokens.hashDigits(digits, 'a@b.c'),
      createOneTimeTokens(createKeyRing(randomBytes(32))).hashDigits(digits, 'a@b.c'),
    ],
  ] as const
  for (const [one, other] of pairs) {
    const same = one.filter((byte, at) => byte === other[at]).length
    assert.ok(one.length === 32 && same < 8, `${same} of 32 bytes`)
  }
})
