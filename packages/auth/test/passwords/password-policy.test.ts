import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseCharacterSets } from '../../src/config/site.ts'
import { ApiError } from '../../src/errors.ts'
import {
  checkPassword,
  type LeakedPasswords,
  noticeWeakness,
} from '../../src/passwords/password-policy.ts'

const policy = { minLength: 6, requiredSets: parseCharacterSets('abc:0123456789:\\:!') }

async function findReasons(password: string, leaks?: LeakedPasswords) {
  try {
    await checkPassword(password, { ...policy, leaks })
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

test('a password needs its length and one character of each set', async () => {
  assert.equal(await findReasons('xxa1:x'), undefined)
  assert.equal(await findReasons('xxb9!x'), undefined)
  assert.deepEqual(await findReasons('xx'), {
    code: 'weak_password',
    status: 422,
    message:
      'Password should be at least 6 characters. ' +
      'Password should contain at least one character of each: abc, 0123456789, :!.',
    reasons: ['length', 'characters'],
  })
})

test('length is counted in characters, and a password of more than 72 bytes is refused', async () => {
  assert.deepEqual((await findReasons('a1!😀'))?.reasons, ['length'])
  assert.equal(await findReasons('a1!😀😀😀'), undefined)
  assert.equal(await findReasons('a1!'.repeat(24)), undefined)
  assert.deepEqual((await findReasons('a1!'.repeat(25)))?.code, 'validation_failed')
})

const leaks = { has: async (password: string) => password.includes('leaked') }

test('a leaked password is refused, with any other reasons', async () => {
  assert.equal(await findReasons('a1!xxxxx', leaks), undefined)
  assert.deepEqual(await findReasons('a1!leaked', leaks), {
    code: 'weak_password',
    status: 422,
    message: 'Password is known to be weak and easy to guess, please choose a different one.',
    reasons: ['pwned'],
  })
  const several = await findReasons('leaked', leaks)
  assert.deepEqual(several?.reasons, ['characters', 'pwned'])
  assert.match(several?.message ?? '', /abc, 0123456789, :!\. Password is known to be weak/)
})

test('at sign-in a leak check that fails or is too slow reports nothing', async () => {
  const notice = (leaks: LeakedPasswords) => noticeWeakness('a1!leaked', { ...policy, leaks })
  assert.deepEqual((await notice(leaks))?.reasons, ['pwned'])
  assert.equal(await notice({ has: () => Promise.reject(new Error('away')) }), undefined)
  assert.equal(await notice({ has: () => new Promise(() => {}) }), undefined)
})
