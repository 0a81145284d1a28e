import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  findMainEmail,
  toEmails,
  toIdentityData,
} from '../../../src/plugins/providers/oauth/external-profile.ts'

const email = (text: string, isVerified: boolean, isPrimary = false) => ({
  email: text,
  isVerified,
  isPrimary,
})

test('addresses are normalized, and invalid ones are dropped', () => {
  const emails = toEmails([
    email('A@B.example', false, true),
    email('a@b.example', true),
    email('not one', true),
    email('', true),
  ])
  assert.deepEqual(emails, [email('a@b.example', true, true)])
})

test('a verified address is preferred to a primary one as the main address', () => {
  const [primary, verified, both] = [
    email('p@b.example', false, true),
    email('v@b.example', true),
    email('b@b.example', true, true),
  ]
  assert.equal(findMainEmail([primary, verified, both]), both)
  assert.equal(findMainEmail([primary, verified]), verified)
  assert.equal(findMainEmail([primary]), primary)
  assert.equal(findMainEmail([]), undefined)
})

test('empty and unstorable claims are omitted, and so are addresses that appear only in claims', () => {
  const claims = {
    ...{ name: 'Ada', picture: '', nickname: 'a\0b', custom_claims: {}, email: 'x@y.example' },
  }
  const data = toIdentityData({ id: '7', emails: [], claims }, 6_144)
  assert.deepEqual(data, {
    name: 'Ada',
    sub: '7',
    provider_id: '7',
    email_verified: false,
    phone_verified: false,
  })
})

test('the largest claims are omitted if all claims together are too large', () => {
  const claims = { name: 'Ada', picture: 'p'.repeat(400), bio: 'b'.repeat(500), nickname: 'ada' }
  const keysOf = (mostBytes: number) =>
    Object.keys(toIdentityData({ id: '7', emails: [], claims }, mostBytes)).toSorted()
  const fixed = ['email_verified', 'phone_verified', 'provider_id', 'sub']
  assert.deepEqual(keysOf(2_000), ['bio', 'name', 'nickname', 'picture', ...fixed].toSorted())
  assert.deepEqual(keysOf(700), ['name', 'nickname', 'picture', ...fixed].toSorted())
  assert.deepEqual(keysOf(200), ['name', 'nickname', ...fixed].toSorted())
  assert.deepEqual(keysOf(10), fixed)
})
