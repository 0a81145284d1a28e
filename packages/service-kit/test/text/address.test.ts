import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toRequestPath } from '../../src/text/address.ts'

test('the path of a request target has neither a query nor the rest of a URL', () => {
  assert.equal(toRequestPath('/stats'), '/stats')
  assert.equal(toRequestPath('/stats?a=/b?c'), '/stats')
  assert.equal(toRequestPath('http://proxied.example:80/stats?a'), '/stats')
  assert.equal(toRequestPath('*'), '*')
})
