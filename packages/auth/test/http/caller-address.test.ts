import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findAddress, findVouchedAddress } from '../../src/http/guards/client.ts'

test('the address is the first in X-Forwarded-For that is one, else that of the connection', () => {
  const addresses = {
    '203.0.113.9': '203.0.113.9',
    '203.0.113.9, 10.0.0.1': '203.0.113.9',
    'unknown, 203.0.113.9': '203.0.113.9',
    ' , 2001:db8::1': '2001:db8::1',
    '_hidden,203.0.113.9:80': '192.0.2.1',
    '': '192.0.2.1',
  }
  for (const [header, address] of Object.entries(addresses)) {
    assert.equal(findAddress(header, '192.0.2.1'), address, header)
  }
  assert.equal(findAddress(undefined, '192.0.2.1'), '192.0.2.1')
  assert.equal(findAddress(undefined, '::ffff:192.0.2.1'), '192.0.2.1')
  assert.equal(findAddress('unknown', '::ffff:192.0.2.1'), '192.0.2.1')
  assert.equal(findAddress(undefined, '2001:db8::ffff'), '2001:db8::ffff')
})

test('Sb-Forwarded-For counts where the operator says so, and only its first value', () => {
  assert.equal(findVouchedAddress(true, '203.0.113.9, 10.0.0.1'), '203.0.113.9')
  for (const header of ['unknown, 203.0.113.9', '203.0.113.9:80', '', undefined]) {
    assert.equal(findVouchedAddress(true, header), undefined, header)
  }
  assert.equal(findVouchedAddress(false, '203.0.113.9'), undefined)
})
