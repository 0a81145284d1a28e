import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseConfig } from '../../src/config/config.ts'
import { createClientAddresses, parseAddress } from '../../src/http/stages/client-address.ts'
import { toNetwork } from '../../src/limits/buckets.ts'

const proxy = '10.0.0.1'

/**
 * Finds client addresses with a configuration from `env`; `reported` collects the warnings for the
 * operator.
 */
function openAddresses(env: Readonly<Record<string, string>> = {}) {
  const { config } = parseConfig(env)
  const reported: string[] = []
  const { find } = createClientAddresses({
    config: config.proxies,
    onUntrusted: (...seen) => reported.push(seen.join(' ')),
  })
  const findIp = (headers: Record<string, string>, remote = proxy) => find(headers, remote).ip
  return { find, findIp, reported }
}

test('by default no header is trusted, and the first one is reported', () => {
  const { findIp, reported } = openAddresses()
  for (const header of [
    'x-forwarded-for',
    'forwarded',
    'x-real-ip',
    'x-client-ip',
    'cf-connecting-ip',
    'true-client-ip',
    'sb-forwarded-for',
  ]) {
    assert.equal(findIp({ [header]: '203.0.113.9' }), proxy, header)
    const { findIp: findFirst, reported } = openAddresses()
    findFirst({ 'user-agent': 'x' })
    assert.deepEqual(reported, [])
    findFirst({ [header]: '203.0.113.9' }, '::ffff:192.0.2.1')
    assert.deepEqual(reported, [`${header} 192.0.2.1`])
  }
  assert.deepEqual(reported, [`x-forwarded-for ${proxy}`])
})

test('trusted hops are counted from the right', () => {
  const header = 'x-forwarded-for'
  const cases = [
    [{ AUTH_TRUSTED_HOPS: '1' }, 'a, 192.0.2.66, 203.0.113.9', '203.0.113.9'],
    [{ AUTH_TRUSTED_HOPS: '2' }, '192.0.2.66, 203.0.113.9, 10.0.0.2', '203.0.113.9'],
    [{ AUTH_TRUSTED_HOPS: '2' }, '203.0.113.9', proxy],
    [{ AUTH_TRUSTED_HOPS: '3' }, '203.0.113.9, 10.0.0.2', proxy],
    [{ AUTH_TRUSTED_HOPS: '1' }, '203.0.113.9, unknown', proxy],
    [{ AUTH_TRUSTED_HOPS: '1' }, '203.0.113.9,', proxy],
    [{ AUTH_TRUSTED_HOPS: '1' }, '', proxy],
    [{ AUTH_RATE_LIMIT_HEADER: 'X-Forwarded-For' }, '192.0.2.66, 203.0.113.9', '203.0.113.9'],
    [
      { AUTH_RATE_LIMIT_HEADER: 'X-Forwarded-For', AUTH_TRUSTED_HOPS: '2' },
      '192.0.2.66, 203.0.113.9, 10.0.0.2',
      '203.0.113.9',
    ],
  ] as const
  for (const [env, value, expected] of cases) {
    const { findIp, reported } = openAddresses(env)
    assert.equal(findIp({ [header]: value }), expected, `${JSON.stringify(env)} ${value}`)
    assert.deepEqual(reported, [])
  }
})

test('trusted proxies are skipped from the right, and no other proxy is trusted', () => {
  const { findIp, reported } = openAddresses({ AUTH_TRUSTED_PROXIES: '10.0.0.0/8, 2001:db8::/32' })
  const from = (value: string, remote?: string) => findIp({ 'x-forwarded-for': value }, remote)
  assert.equal(from('192.0.2.66, 203.0.113.9'), '203.0.113.9')
  assert.equal(from('192.0.2.66, 203.0.113.9, 10.1.2.3, 2001:db8::5'), '203.0.113.9')
  assert.equal(from('10.9.9.9, 10.1.2.3'), '10.9.9.9')
  assert.equal(from('203.0.113.9, garbage, 10.1.2.3'), proxy)
  assert.equal(from('203.0.113.9, '), proxy)
  assert.equal(from('203.0.113.9', '::ffff:10.0.0.7'), '203.0.113.9')
  assert.equal(from('203.0.113.9', '2001:db8::1'), '203.0.113.9')
  assert.deepEqual(reported, [])
  for (const untrusted of ['192.0.2.1', '::ffff:192.0.2.1', '2001:db9::1']) {
    assert.equal(from('203.0.113.9', untrusted), parseAddress(untrusted), untrusted)
  }
  assert.deepEqual(reported, ['x-forwarded-for 192.0.2.1'])
  assert.equal(from('203.0.113.9', ''), '')
})

test('with both hops and proxies configured, both conditions must hold', () => {
  const env = { AUTH_TRUSTED_PROXIES: proxy, AUTH_TRUSTED_HOPS: '2' }
  const { findIp } = openAddresses(env)
  const headers = { 'x-forwarded-for': '192.0.2.66, 203.0.113.9, 198.51.100.7' }
  assert.equal(findIp(headers), '203.0.113.9')
  assert.equal(findIp(headers, '10.0.0.2'), '10.0.0.2')
})

test('a configured header is the only one read, except that a trusted Sb-Forwarded-For takes precedence', () => {
  const named = { AUTH_RATE_LIMIT_HEADER: 'X-Real-IP' }
  const { findIp } = openAddresses(named)
  assert.equal(
    findIp({ 'x-real-ip': '203.0.113.9', 'x-forwarded-for': '192.0.2.66' }),
    '203.0.113.9',
  )
  assert.equal(findIp({ 'x-forwarded-for': '192.0.2.66' }), proxy)
  assert.equal(findIp({ 'sb-forwarded-for': '192.0.2.66' }), proxy)
  const { findIp: findBoth } = openAddresses({
    ...named,
    AUTH_SECURITY_SB_FORWARDED_FOR_ENABLED: 'true',
  })
  const both = { 'x-real-ip': '203.0.113.9', 'sb-forwarded-for': '192.0.2.66, 203.0.113.10' }
  assert.equal(findBoth(both), '203.0.113.10')
  assert.equal(findBoth({ ...both, 'sb-forwarded-for': 'not-an-address' }), '203.0.113.9')
})

test('the Forwarded header of RFC 7239 is parsed', () => {
  const { findIp } = openAddresses({ AUTH_RATE_LIMIT_HEADER: 'Forwarded' })
  const values = {
    'for=203.0.113.9;proto=https': '203.0.113.9',
    'for=192.0.2.66, proto=https; For="203.0.113.9:4711"': '203.0.113.9',
    'for="[2001:db8::1]:4711"': '2001:db8::1',
    'for=_hidden': proxy,
    'proto=https': proxy,
  }
  for (const [value, expected] of Object.entries(values)) {
    assert.equal(findIp({ forwarded: value }), expected, value)
  }
})

test('a header without addresses can be used as a rate limit key', () => {
  const { find } = openAddresses({ AUTH_RATE_LIMIT_HEADER: 'X-Application' })
  const found = find({ 'x-application': ` shop${'!'.repeat(300)}` }, proxy)
  assert.deepEqual(found, { ip: proxy, limitKey: `shop${'!'.repeat(252)}` })
  assert.deepEqual(find({ 'x-application': ' ' }, proxy), { ip: proxy, limitKey: proxy })
  assert.deepEqual(find({}, undefined), { ip: '', limitKey: '' })
})

test('addresses are normalized', () => {
  const spellings = {
    '203.0.113.9': '203.0.113.9',
    '203.0.113.9:4711': '203.0.113.9',
    '::ffff:203.0.113.9': '203.0.113.9',
    '[::FFFF:203.0.113.9]:80': '203.0.113.9',
    '::ffff:c000:201': '192.0.2.1',
    '2001:DB8:0:0::0001': '2001:db8::1',
    '[2001:db8::1]': '2001:db8::1',
    '[2001:db8::1]:4711': '2001:db8::1',
    'fe80::1%eth0': 'fe80::1',
    '[fe80::1%eth0]:1': 'fe80::1',
  }
  for (const [text, expected] of Object.entries(spellings)) {
    assert.equal(parseAddress(text), expected, text)
  }
  for (const text of [
    '',
    'unknown',
    '203.0.113',
    '203.0.113.256',
    '203.0.113.9:',
    '203.0.113.9:123456',
    '203.0.113.9 203.0.113.10',
    '0x7f.1',
    '1:2',
    '[203.0.113.9]',
    '[2001:db8::1',
    '2001:db8::1]',
    'x'.repeat(70_000),
    '1'.repeat(70_000),
    ':'.repeat(70_000),
  ]) {
    assert.equal(parseAddress(text), undefined, text.slice(0, 40))
  }
})

test('addresses in the same IPv6 network share a limit', () => {
  const networks = {
    '2001:db8:1:2::5': '2001:db8:1:2',
    '2001:db8:1:2:3:4:5:6': '2001:db8:1:2',
    '2001:db8::1': '2001:db8:0:0',
    '::1': '0:0:0:0',
    '192.0.2.1': '192.0.2.1',
    '': '',
  }
  for (const [ip, network] of Object.entries(networks)) assert.equal(toNetwork(ip), network)
})
