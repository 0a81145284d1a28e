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
