import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readCookie, toCookie } from '../../../src/features/external/endpoints/authorize.ts'

test('a cookie is host-only, expires, and is hidden from scripts', () => {
  const settings = { maxAgeSeconds: 300, sameSite: 'Lax' } as const
  assert.equal(
    toCookie('a', 'b', { ...settings, isSecure: false }),
    'a=b; Path=/; Max-Age=300; HttpOnly; SameSite=Lax',
  )
  assert.equal(
    toCookie('a', '', { maxAgeSeconds: 0, sameSite: 'None', isSecure: true }),
    'a=; Path=/; Max-Age=0; HttpOnly; Secure; SameSite=None',
  )
})

test('a cookie is found by its full name', () => {
  assert.equal(readCookie('xa=1; a=2;b=3', 'a'), '2')
  assert.equal(readCookie('xa=1; a=2=;b=3', 'a'), '2=')
  assert.equal(readCookie('ab=1', 'a'), undefined)
  assert.equal(readCookie(undefined, 'a'), undefined)
})
