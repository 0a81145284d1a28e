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

test('addresses are brought into one form, and what is none is dropped', () => {
  const emails = toEmails([
    email('A@B.example', false, true),
    email('a@b.example', true),
    email('not one', true),
    email('', true),
  ])
  assert.deepEqual(emails, [email('a@b.example', true, true)])
})

test('the main address is a verified one before a primary one', () => {
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

test('claims that are empty or cannot be stored are left out, and addresses that are only claimed', () => {
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

test('of claims that are too large together the largest are left out', () => {
  const claims = { name: 'Ada', picture: 'p'.repeat(400), bio: 'b'.repeat(500), nickname: 'ada' }
  const keysOf = (mostBytes: number) =>
    Object.keys(toIdentityData({ id: '7', emails: [], claims }, mostBytes)).toSorted()
  const fixed = ['email_verified', 'phone_verified', 'provider_id', 'sub']
  assert.deepEqual(keysOf(2_000), ['bio', 'name', 'nickname', 'picture', ...fixed].toSorted())
  assert.deepEqual(keysOf(700), ['name', 'nickname', 'picture', ...fixed].toSorted())
  assert.deepEqual(keysOf(200), ['name', 'nickname', ...fixed].toSorted())
  assert.deepEqual(keysOf(10), fixed)
})
