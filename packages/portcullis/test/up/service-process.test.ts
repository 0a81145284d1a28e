import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toMessage } from '../../src/up/service-process.ts'

test('a refused request is described by method, path, status and error', () => {
  const request = { msg: 'request completed', method: 'POST', path: '/token', status: 400 }
  const refused = {
    ...request,
    error_code: 'invalid_credentials',
    error: 'Invalid login credentials',
  }
  assert.equal(
    toMessage(JSON.stringify(refused)),
    'POST /token was refused: 400, invalid_credentials, Invalid login credentials',
  )
  assert.equal(toMessage(JSON.stringify({ ...request, status: 503 })), 'POST /token failed: 503')
  assert.equal(toMessage('{"msg":"Repaired the index"}'), 'Repaired the index')
})

test('text from a client cannot control the terminal or begin a line', () => {
  const request = { msg: 'request completed', method: 'GET', path: '/callback', status: 400 }
  const error = 'denied\u001b]0;owned\u0007\nauth: all is well'
  assert.equal(
    toMessage(JSON.stringify({ ...request, error })),
    'GET /callback was refused: 400, denied\ufffd]0;owned\ufffd auth: all is well',
  )
  for (const line of [JSON.stringify({ msg: error }), `\u001b[2J${error}`]) {
    assert.doesNotMatch(toMessage(line), /\p{Cc}/u)
  }
})
