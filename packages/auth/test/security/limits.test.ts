/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openAuthServer } from '../support/auth-server.ts'
import { send } from '../support/http-client.ts'

const fourHundred = { body: { type: 'signup', token: '' } }

test('limits apply by default, and headers do not bypass them (property 30)', async (t) => {
  const server = await openAuthServer(t)
  if (!server) return
  const spoofed = (at: number) => ({
    'x-forwarded-for': `203.0.113.${at}`,
    'x-real-ip': `203.0.113.${at}`,
    'x-client-ip': `203.0.113.${at}`,
    'sb-forwarded-for': `203.0.113.${at}`,
    'cf-connecting-ip': `203.0.113.${at}`,
    forwarded: `for=203.0.113.${at}`,
    'true-client-ip': `203.0.113.${at}`,
  })
  const paths = {
    '/verify': fourHundred,
    '/token?grant_type=refresh_token': { body: { refresh_token: 'x' } },
    '/recover': { body: {} },
    '/otp': { body: {} },
    '/magiclink': { body: {} },
    '/resend': { body: {} },
    '/signup': { body: { email: 'x', password: 'x' } },
    '/authorize?provider=github': {},
    '/callback?state=x': {},
  }
  for (const [path, options] of Object.entries(paths)) {
    const statuses = []
    for (let at = 0; at < 31; at += 1) {
      const answer = await send(server.url, path, { ...options, headers: spoofed(at) })
      statuses.push(answer.status)
      if (at < 30) continue
      assert.equal(answer.body.error_code, 'over_request_rate_limit', path)
      assert.match(answer.headers.get('retry-after') ?? '', /^\d+$/)
    }
    assert.deepEqual(statuses.indexOf(429), 30, path)
  }
  // A callback by POST shares the limit, and linking starts like a sign-in.
  for (const [path, options] of [
    ['/user/identities/confirm?state=x', {}],
    ['/user/identities/confirm', { body: { state: 'x' } }],
    ['/callback', { body: { state: 'x' } }],
    ['/user/identities/authorize?provider=github', { token: 'x' }],
  ] as const) {
    assert.equal((await send(server.url, path, options)).status, 429, path)
  }
  // Another spelling of a path shares the limit.
  for (const path of ['/verify/', '/verify?x=1']) {
    assert.equal((await send(server.url, path, fourHundred)).status, 429, path)
  }
})

test('only a trusted header is used as the address; without it the connection is used (property 30)', async (t) => {
  const server = await openAuthServer(t, {
    env: { AUTH_RATE_LIMIT_HEADER: 'X-Real-Client', AUTH_RATE_LIMIT_VERIFY: '2' },
  })
  if (!server) return
  const verify = async (headers: Readonly<Record<string, string>>) =>
    (await send(server.url, '/verify', { ...fourHundred, headers })).status
  for (const status of [400, 400, 429, 429]) {
    // Only the last value comes from the proxy; earlier values have no effect.
    const forwarded = `198.51.100.${Math.random()}`
    const headers = { 'x-real-client': `${forwarded}, a`, 'x-forwarded-for': forwarded }
    assert.equal(await verify(headers), status)
  }
  assert.equal(await verify({ 'x-real-client': 'b' }), 400)
  for (const status of [400, 400, 429]) {
    assert.equal(await verify({ 'x-forwarded-for': `198.51.100.${Math.random()}` }), status)
  }
  assert.equal(await verify({ 'x-real-client': '' }), 429)
  assert.equal(await verify({ 'x-real-client': 'b, ' }), 429)
})

test('Sb-Forwarded-For is used as the address if enabled (property 30)', async (t) => {
  const server = await openAuthServer(t, {
    env: {
      AUTH_SECURITY_SB_FORWARDED_FOR_ENABLED: 'true',
      AUTH_RATE_LIMIT_HEADER: 'X-Real-Client',
      AUTH_RATE_LIMIT_VERIFY: '1',
    },
  })
  if (!server) return
  const verify = async (headers: Readonly<Record<string, string>>) =>
    (await send(server.url, '/verify', { ...fourHundred, headers })).status
  for (const [at, status] of [400, 429].entries()) {
    const others = { 'x-real-client': `${at}`, 'x-forwarded-for': `198.51.100.${at}` }
    assert.equal(await verify({ ...others, 'sb-forwarded-for': 'x, 203.0.113.9' }), status)
  }
  assert.equal(await verify({ 'sb-forwarded-for': '203.0.113.10' }), 400)
  assert.equal(await verify({ 'sb-forwarded-for': 'not-an-address', 'x-real-client': 'a' }), 400)
  assert.equal(await verify({ 'x-real-client': 'a' }), 429)
  const logged = server.log.join('\n')
  assert.match(logged, /203\.0\.113\.9/)
})

test('addresses in one IPv6 network share a limit (property 30)', async (t) => {
  const server = await openAuthServer(t, {
    env: { AUTH_RATE_LIMIT_HEADER: 'X-Real-Client', AUTH_RATE_LIMIT_VERIFY: '1' },
  })
  if (!server) return
  const verify = async (address: string) => {
    const headers = { 'x-real-client': address }
    return (await send(server.url, '/verify', { ...fourHundred, headers })).status
  }
  const addresses = {
    '2001:db8:1:2::1': 400,
    '2001:db8:1:2::2': 429,
    '2001:DB8:1:2:ffff:ffff:ffff:ffff': 429,
    '2001:0db8:0001:0002:0:0:0:3': 429,
    '2001:db8:1:3::1': 400,
    '2001:db8::1': 400,
    '2001:db8:0:0:5::': 429,
    '::ffff:192.0.2.1': 400,
    '::ffff:192.0.2.2': 400,
    '::ffff:c000:201': 429,
    '192.0.2.3': 400,
    '192.0.2.4': 400,
    'fe80::1%eth0': 400,
    'fe80::2%eth1': 429,
  } as const
  for (const [address, status] of Object.entries(addresses)) {
    assert.equal(await verify(address), status, address)
  }
})
