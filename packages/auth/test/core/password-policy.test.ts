import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseCharacterSets } from '../../src/config/site.ts'
import { checkPassword } from '../../src/core/password-policy.ts'
import { ApiError } from '../../src/errors.ts'

const policy = { minLength: 6, requiredSets: parseCharacterSets('abc:0123456789:\\:!') }

function findReasons(password: string) {
  try {
    checkPassword(password, policy)
    return undefined
  } catch (error) {
    assert.ok(error instanceof ApiError)
    return { code: error.code, status: error.status, message: error.message, ...error.weakPassword }
  }
}

test('character sets are separated by colons, and an escaped colon is a character', () => {
  assert.deepEqual(policy.requiredSets, ['abc', '0123456789', ':!'])
  assert.deepEqual(parseCharacterSets(''), [])
  assert.deepEqual(parseCharacterSets('::a::'), ['a'])
})

test('a password needs its length and one character of each set', () => {
  assert.equal(findReasons('xxa1:x'), undefined)
  assert.equal(findReasons('xxb9!x'), undefined)
  assert.deepEqual(findReasons('xx'), {
    code: 'weak_password',
    status: 422,
    message:
      'Password should be at least 6 characters. ' +
      'Password should contain at least one character of each: abc, 0123456789, :!.',
    reasons: ['length', 'characters'],
  })
})

test('length is counted in characters, and a password of more than 72 bytes is refused', () => {
  assert.deepEqual(findReasons('a1!😀')?.reasons, ['length'])
  assert.equal(findReasons('a1!😀😀😀'), undefined)
  assert.equal(findReasons('a1!'.repeat(24)), undefined)
  assert.deepEqual(findReasons('a1!'.repeat(25))?.code, 'validation_failed')
})
