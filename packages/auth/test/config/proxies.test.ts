import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toFaultText } from '@portcullis/service-kit/settings/env'
import { parseConfig } from '../../src/config/config.ts'
import { runCommand } from '../support/auth-command.ts'
import { testEnvironment } from '../support/auth-server.ts'

const required = { ...testEnvironment, DATABASE_URL: 'postgres://u@db.example/x' }

function read(env: Readonly<Record<string, string>>) {
  const { config, faults, remarks } = parseConfig({ ...required, ...env })
  return { proxies: config.proxies, faults: faults.map(toFaultText), remarks }
}

test('no forwarding header is trusted until a header, hops or proxies are configured', () => {
  const none = read({})
  assert.deepEqual(none.proxies.headers, [])
  assert.match(none.remarks.join(), /No proxy is trusted.*AUTH_TRUSTED_PROXIES/)
  const cases = [
    [{ AUTH_TRUSTED_HOPS: '2' }, ['x-forwarded-for'], 2],
    [{ AUTH_TRUSTED_PROXIES: '10.0.0.1' }, ['x-forwarded-for'], undefined],
    [{ AUTH_RATE_LIMIT_HEADER: 'X-Real-IP' }, ['x-real-ip'], 1],
    [{ GOTRUE_RATE_LIMIT_HEADER: 'X-Real-IP', AUTH_TRUSTED_HOPS: '3' }, ['x-real-ip'], 3],
    [{ AUTH_SECURITY_SB_FORWARDED_FOR_ENABLED: 'true' }, ['sb-forwarded-for'], 1],
    [
      { AUTH_SECURITY_SB_FORWARDED_FOR_ENABLED: 'true', AUTH_TRUSTED_PROXIES: '::1' },
      ['sb-forwarded-for', 'x-forwarded-for'],
      undefined,
    ],
  ] as const
  for (const [env, headers, hops] of cases) {
    const { proxies, faults, remarks } = read(env)
    assert.deepEqual([proxies.headers, proxies.hops], [headers, hops], JSON.stringify(env))
    assert.deepEqual([faults, remarks], [[], []])
  }
})

test('trusted proxies are IP addresses or networks', () => {
  const { proxies, faults } = read({ AUTH_TRUSTED_PROXIES: '10.0.0.1, 10.1.0.0/16,2001:db8::/32' })
  assert.deepEqual(faults, [])
  assert.deepEqual(proxies.trusted, [
    { address: '10.0.0.1', prefix: 32, family: 'ipv4' },
    { address: '10.1.0.0', prefix: 16, family: 'ipv4' },
    { address: '2001:db8::', prefix: 32, family: 'ipv6' },
  ])
  for (const wrong of [
    'proxy.example',
    '10.0.0.0/33',
    '10.0.0/8',
    '::/129',
    'fe80::1%eth0',
    '1/',
  ]) {
    const [fault = ''] = read({ AUTH_TRUSTED_PROXIES: `10.0.0.1,${wrong}` }).faults
    assert.ok(fault.startsWith('AUTH_TRUSTED_PROXIES='), wrong)
    assert.ok(fault.endsWith(`${wrong} is not an address or a network such as 10.0.0.0/8`), fault)
  }
})

test('zero hops with a configured header are refused', () => {
  const [fault] = read({ AUTH_RATE_LIMIT_HEADER: 'X-Real-IP', AUTH_TRUSTED_HOPS: '0' }).faults
  assert.match(fault ?? '', /^AUTH_TRUSTED_HOPS="0": must be at least 1/)
  assert.match(read({ AUTH_TRUSTED_HOPS: '-1' }).faults.join(), /^AUTH_TRUSTED_HOPS="-1"/)
})

test('config check notes that no proxy is trusted', async () => {
  const check = async (env: object) =>
    (await runCommand(['config', 'check'], { env: { ...required, ...env } })).stdout
  assert.match(await check({}), /^note: No proxy is trusted/m)
  assert.doesNotMatch(await check({ AUTH_TRUSTED_HOPS: '1' }), /No proxy is trusted/)
})
