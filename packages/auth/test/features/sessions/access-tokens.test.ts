import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createAccessToken,
  type SignedIn,
  toAccessClaims,
} from '../../../src/features/sessions/access-tokens.ts'
import type { FactorRow } from '../../../src/features/users/statements/user-row.ts'
import { createdAt, factor, user } from '../../support/example-user.ts'

const createdSeconds = Date.parse(createdAt) / 1_000
const minute = 60

const signedIn: SignedIn = {
  user,
  sessionId: '7d1f6c2e-0000-4000-8000-000000000003',
  sessionCreatedAt: createdAt,
  aal: 'aal1',
  amr: [
    { method: 'password', timestamp: 1 },
    { method: 'otp', timestamp: 2 },
  ],
}

const settings = { expiresInSeconds: 60 * minute, issuer: undefined, lowAalMs: 10 * minute * 1_000 }

/** Returns the lifetime of a token issued this many seconds after the session began. */
function validSeconds(
  afterSeconds: number,
  {
    factors = [factor],
    aal = 'aal1',
    expiresInSeconds = settings.expiresInSeconds,
  }: { factors?: FactorRow[]; aal?: string; expiresInSeconds?: number } = {},
) {
  const now = (createdSeconds + afterSeconds) * 1_000
  const member = { ...signedIn, aal, user: { ...user, factors } }
  const { iat, exp } = toAccessClaims({ ...settings, expiresInSeconds }, member, now)
  assert.ok(typeof exp === 'number' && typeof iat === 'number')
  return exp - iat
}

test('a token expires when the time to verify a second factor is over', () => {
  assert.equal(validSeconds(0), 10 * minute)
  assert.equal(validSeconds(4 * minute), 6 * minute)
})

test('a token is valid for at least a second, even when the time to verify a second factor is over', () => {
  assert.equal(validSeconds(10 * minute - 1), 1)
  assert.equal(validSeconds(20 * minute), 1)
})

test('the time to verify a second factor does not extend the lifetime of a token', () => {
  assert.equal(validSeconds(0, { expiresInSeconds: 5 * minute }), 5 * minute)
})

test('a user without a second factor, or with a verified one, gets the usual lifetime', () => {
  assert.equal(validSeconds(4 * minute, { factors: [] }), 60 * minute)
  assert.equal(
    validSeconds(4 * minute, { factors: [{ ...factor, status: 'unverified' }] }),
    60 * minute,
  )
  assert.equal(validSeconds(4 * minute, { aal: 'aal2' }), 60 * minute)
})

test('the claims name the user, the session and the sign-in methods, newest first', () => {
  const claims = toAccessClaims({ ...settings, issuer: 'https://i' }, signedIn, 1_000_900)
  assert.deepEqual(claims, {
    iss: 'https://i',
    sub: user.id,
    aud: 'authenticated',
    exp: 1_000 + 60 * minute,
    iat: 1_000,
    email: 'ada@example.com',
    phone: '',
    app_metadata: { provider: 'email' },
    user_metadata: { name: 'Ada' },
    role: 'authenticated',
    aal: 'aal1',
    amr: [
      { method: 'otp', timestamp: 2 },
      { method: 'password', timestamp: 1 },
    ],
    session_id: signedIn.sessionId,
    is_anonymous: false,
  })
  assert.equal('iss' in toAccessClaims(settings, signedIn, 0), false)
})

test('a token has the times in its claims iat and exp, and cannot be created without them', () => {
  const signer = { sign: () => 'text', verify: () => assert.fail('no token should be verified') }
  assert.deepEqual(createAccessToken(signer, { iat: 100, exp: 160 }), {
    text: 'text',
    expiresInSeconds: 60,
    expiresAtSeconds: 160,
  })
  assert.throws(() => createAccessToken(signer, { exp: 160 }), TypeError)
  assert.throws(() => createAccessToken(signer, { iat: 100 }), TypeError)
})
