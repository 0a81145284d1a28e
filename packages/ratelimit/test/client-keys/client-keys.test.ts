import assert from 'node:assert/strict'
import { createHash, createHmac } from 'node:crypto'
import { test } from 'node:test'
import { forwardedAddress, ipKey, secretKey } from '@portcullis/ratelimit'

const keys: readonly (readonly [address: string | null | undefined, key: string])[] = [
  ['203.0.113.7', '203.0.113.7'],
  ['203.0.113.7:443', '203.0.113.7'],
  [' 203.0.113.7 ', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['::FFFF:203.0.113.7', '203.0.113.7'],
  ['::ffff:cb00:7107', '203.0.113.7'],
  ['0:0:0:0:0:ffff:203.0.113.7', '203.0.113.7'],
  ['[::ffff:203.0.113.7]:8080', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8::/64'],
  ['[2001:db8:1:2::9]:443', '2001:db8:1:2::/64'],
  ['[2001:db8:1:2::9]', '2001:db8:1:2::/64'],
  ['fe80::1%eth0', 'fe80::/64'],
  ['::1', '::/64'],
  ['::', '::/64'],
  ['64:ff9b::203.0.113.7', '64:ff9b::/64'],
  [undefined, 'unknown'],
  [null, 'unknown'],
  ['', 'unknown'],
  ['unknown', 'unknown'],
  ['_hidden', 'unknown'],
  ['203.0.113', 'unknown'],
  ['203.0.113.256', 'unknown'],
  ['2001:db8::1::2', 'unknown'],
  ['203.0.113.7, 198.51.100.1', 'unknown'],
  ['[203.0.113.7', 'unknown'],
  ['1'.repeat(100_000), 'unknown'],
]

test('ipKey returns the address for IPv4, the network for IPv6, and one value for everything else', () => {
  for (const [address, key] of keys) assert.equal(ipKey(address), key, `${address}`)
  assert.equal(ipKey(17 as unknown as string), 'unknown')
})

test('ipKey accepts the prefix length of an IPv6 network', () => {
  const address = '2001:db8:1:2ff:3:4:5:6'
  const byBits = [1, 16, 48, 56, 57, 64, 127, 128].map((v6) => ipKey(address, { v6 }))
  assert.deepEqual(byBits, [
    '::/1',
    '2001::/16',
    '2001:db8:1::/48',
    '2001:db8:1:200::/56',
    '2001:db8:1:280::/57',
    '2001:db8:1:2ff::/64',
    '2001:db8:1:2ff:3:4:5:6/127',
    '2001:db8:1:2ff:3:4:5:6',
  ])
  assert.equal(ipKey('203.0.113.7', { v6: 48 }), '203.0.113.7')
  for (const v6 of [0, 129, 1.5, Number.NaN]) {
    assert.throws(() => ipKey(address, { v6 }), /v6 must be a whole number of bits from 1 to 128/)
  }
})

test('secretKey is a digest that does not contain the secret', () => {
  const secret = 'api-key-of-ada'
  const digest = createHash('sha256').update(secret).digest('base64url')
  assert.equal(secretKey(secret), digest.slice(0, 22))
  const keyed = createHmac('sha256', 'pepper').update(secret).digest('base64url')
  assert.equal(secretKey(secret, { key: 'pepper' }), keyed.slice(0, 22))
  for (const missing of [undefined, '', null]) {
    assert.throws(() => secretKey(missing as unknown as string), /Count requests without one by/)
  }
})

test('forwardedAddress trusts only as many entries as there are proxies', () => {
  const header = '10.0.0.1, 203.0.113.7,198.51.100.1'
  assert.equal(forwardedAddress(header), '198.51.100.1')
  assert.equal(forwardedAddress(header, { proxies: 2 }), '203.0.113.7')
  assert.equal(forwardedAddress(['10.0.0.1', '203.0.113.7']), '203.0.113.7')
  for (const absent of [undefined, null, '', '10.0.0.1,']) {
    assert.equal(forwardedAddress(absent), undefined)
  }
  assert.equal(forwardedAddress('203.0.113.7', { proxies: 2 }), undefined)
  assert.throws(() => forwardedAddress(header, { proxies: 0 }), /at least 1, not 0/)
})
