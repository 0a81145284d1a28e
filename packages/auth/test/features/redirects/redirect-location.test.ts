import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError, type ErrorCode } from '../../../src/errors.ts'
import {
  toErrorParameters,
  withFragment,
  withQuery,
} from '../../../src/features/redirects/redirect-location.ts'

test('a fragment is sorted, form-encoded, and replaces an existing one', () => {
  const parameters = { type: 'signup', message: 'a b&c' }
  const expected = '#message=a+b%26c&sb=&type=signup'
  for (const [target, base] of [
    ['https://site.example', 'https://site.example'],
    ['https://site.example/?a=b#old', 'https://site.example/?a=b'],
    ['myapp://callback', 'myapp://callback'],
  ] as const) {
    assert.equal(withFragment(target, parameters), `${base}${expected}`)
  }
})

test('query parameters are added to the existing ones, and no name appears twice', () => {
  const code = { code: 'x' }
  for (const [target, expected] of [
    ['https://site.example', 'https://site.example?code=x'],
    ['https://site.example/?a=b%20c#d?e', 'https://site.example/?a=b+c&code=x#d?e'],
    ['https://site.example/?code=forged&a=b', 'https://site.example/?code=x&a=b'],
    ['myapp://callback?a=b', 'myapp://callback?a=b&code=x'],
  ] as const) {
    assert.equal(withQuery(target, code), expected)
  }
})

test('an error is named after its status', () => {
  const nameOf = (code: ErrorCode, status?: number) =>
    toErrorParameters(new ApiError(code, 'text', status === undefined ? {} : { status }))['error']
  assert.equal(nameOf('validation_failed'), 'invalid_request')
  assert.equal(nameOf('no_authorization'), 'unauthorized_client')
  assert.equal(nameOf('otp_expired'), 'access_denied')
  assert.equal(nameOf('signup_disabled'), 'access_denied')
  assert.equal(nameOf('unexpected_failure'), 'server_error')
  assert.equal(nameOf('hashing_overloaded'), 'temporarily_unavailable')
  assert.equal(nameOf('email_exists'), undefined)
})
