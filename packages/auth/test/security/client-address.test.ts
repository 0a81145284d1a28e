/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { type TestContext, test } from 'node:test'
import { openMigratedEnvironment, startAuth } from '../support/auth-program.ts'
import { openCaptchaService, toCaptchaEnvironment } from '../support/captcha-service.ts'
import { createFactorCalls, factorEnvironment } from '../support/factors.ts'
import { openFlowServer } from '../support/flow-server.ts'
import { newEmail, password, send } from '../support/http-client.ts'
import { until } from '../support/outbox.ts'

type Env = Readonly<Record<string, string>>
type Headers = Readonly<Record<string, string>>

const here = '127.0.0.1'
const client = '203.0.113.9'
const forgedIp = '192.0.2.66'

/** Every header in which a client could claim an address. */
const forged: Headers = {
  'x-forwarded-for': `${forgedIp}, ${forgedIp}`,
  forwarded: `for=${forgedIp}`,
  'x-real-ip': forgedIp,
  'x-client-ip': forgedIp,
  'cf-connecting-ip': forgedIp,
  'true-client-ip': forgedIp,
  'sb-forwarded-for': forgedIp,
}

/** Opens a server and reads the client address from all places that record it. */
async function openAddressServer(t: TestContext, env: Env) {
  const captcha = await openCaptchaService(t, 'hcaptcha')
  const server = await openFlowServer(
    t,
    { ...factorEnvironment, ...toCaptchaEnvironment('hcaptcha'), ...env },
    { checkers: { captchaUrl: captcha.url } },
  )
  if (!server) return undefined
  const { url, query } = server
  const calls = createFactorCalls(server)

  /** Reads each place once after requests with these headers. */
  const findPlaces = async (headers: Headers) => {
    const { email } = await newUser()
    const { body } = await send(url, '/token?grant_type=password', {
      body: { email, password, captcha_token: captcha.solve() },
      headers,
    })
    const { access_token: token } = body
    const { body: factor } = await send(url, '/factors', {
      token,
      headers,
      body: { factor_type: 'totp' },
    })
    await send(url, `/factors/${factor.id}/challenge`, { token, headers, body: {} })
    const [row] = await query(
      `select (select ip from sessions where user_id = $1) as session,
         (select ip_address from audit_log_entries where payload ->> 'actor_id' = $1::text
           and payload ->> 'action' = 'login') as audit,
         (select ip_address from mfa_challenges where factor_id = $2) as challenge`,
      [body.user.id, factor.id],
    )
    const isLogged = () => server.log.some((line) => line.includes(`${factor.id}/challenge`))
    await until(isLogged)
    const line = server.log.findLast((each) => each.includes(`${factor.id}/challenge`)) ?? ''
    return {
      ...row,
      captcha: captcha.forms.at(-1)?.['remoteip'],
      log: /remote_addr[":= ]+([^"\s,]+)/.exec(line)?.[1],
    }
  }
  const newUser = async () => {
    const email = newEmail()
    await send(url, '/admin/users', {
      token: server.serviceToken,
      body: { email, password, email_confirm: true },
    })
    return { email }
  }
  return { server, calls, findPlaces }
}

/** The same address in all places. */
const all = (ip: string) => ({ session: ip, audit: ip, challenge: ip, captcha: ip, log: ip })

const cases: readonly (readonly [name: string, env: Env, headers: Headers, expected: string])[] = [
  ['by default the address of the connection is used', {}, forged, here],
  [
    'one trusted hop: the last value, regardless of values before it',
    { AUTH_TRUSTED_HOPS: '1' },
    { ...forged, 'x-forwarded-for': `${forgedIp}, ${client}` },
    client,
  ],
  [
    'AUTH_RATE_LIMIT_HEADER is one trusted hop',
    { AUTH_RATE_LIMIT_HEADER: 'X-Forwarded-For' },
    { ...forged, 'x-forwarded-for': `${forgedIp}, ${client}` },
    client,
  ],
  [
    'two trusted hops: the second to last value',
    { AUTH_TRUSTED_HOPS: '2', AUTH_RATE_LIMIT_HEADER: 'X-Proxies' },
    { ...forged, 'x-proxies': `${forgedIp}, ${client}, 10.0.0.1` },
    client,
  ],
  [
    'trusted proxies: the last address that is not a trusted proxy',
    { AUTH_TRUSTED_PROXIES: '127.0.0.0/8, 10.0.0.0/8' },
    { ...forged, 'x-forwarded-for': `${forgedIp}, ${client}, 10.0.0.1` },
    client,
  ],
  [
    'a connection that is not from a trusted proxy',
    { AUTH_TRUSTED_PROXIES: '10.0.0.0/8' },
    { ...forged, 'x-forwarded-for': `${forgedIp}, ${client}` },
    here,
  ],
  [
    'a value that is not an address',
    { AUTH_TRUSTED_HOPS: '1' },
    { ...forged, 'x-forwarded-for': `${forgedIp}, unknown` },
    here,
  ],
  [
    'brackets and a port',
    { AUTH_TRUSTED_HOPS: '1' },
    { 'x-forwarded-for': '[2001:DB8::9]:4711' },
    '2001:db8::9',
  ],
]

for (const [name, env, headers, expected] of cases) {
  test(`the same address for sessions, audit, challenges, CAPTCHA and log: ${name} (property 53)`, async (t) => {
    const witness = await openAddressServer(t, env)
    if (!witness) return
    assert.deepEqual(await witness.findPlaces(headers), all(expected))
  })
}

/** Sends header lines unchanged, also several with the same name. */
function verifyWith(url: string, lines: readonly (readonly [string, string])[]): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const sent = request(`${url}/verify`, {
    method: 'POST',
    headers: [['content-type', 'application/json'], ['host', 'x'], ...lines].flat(),
  })
  sent.on('error', reject).on('response', (response) => {
    response.resume()
    resolve(response.statusCode ?? 0)
  })
  sent.end(JSON.stringify({ type: 'signup', token: '' }))
  return promise
}

test('a proxy that appends to X-Forwarded-For does not bypass the limits (property 53)', async (t) => {
  const limits = { AUTH_RATE_LIMIT_VERIFY: '3' }
  for (const env of [
    { ...limits, AUTH_RATE_LIMIT_HEADER: 'X-Forwarded-For' },
    { ...limits, AUTH_TRUSTED_HOPS: '1' },
    { ...limits, AUTH_TRUSTED_PROXIES: '127.0.0.1' },
  ]) {
    const server = await openFlowServer(t, env)
    if (!server) return
    let next = 0
    const from = (address: string) => {
      const other = `192.0.2.${++next}`
      return verifyWith(server.url, [
        ['X-Forwarded-For', `${other}, ${other}`],
        ['x-forwarded-for', `2001:db8::${next}, "x`],
        ['X-FORWARDED-FOR', address],
      ])
    }
    for (const status of [400, 400, 400, 429, 429]) {
      assert.equal(await from(client), status, JSON.stringify(env))
    }
    // These are other spellings of the same address.
    for (const same of [`${client}:${4_000}`, `::ffff:${client}`, `[::ffff:${client}]:1`]) {
      assert.equal(await from(same), 429, same)
    }
    assert.equal(await from('203.0.113.10'), 400)
    // An unusable value counts as the address of the connection.
    for (const status of [400, 400, 400, 429, 429]) {
      assert.equal(await from(`not an address ${++next}`), status, JSON.stringify(env))
    }
  }
})

test('untrusted forwarding headers are reported once, also by workers (property 53)', async (t) => {
  const env = await openMigratedEnvironment(t)
  if (!env) return
  for (const workers of ['1', '2']) {
    const server = await startAuth(t, ['up'], { ...env, AUTH_WORKERS: workers })
    assert.match(server.output(), /No proxy is trusted.*AUTH_TRUSTED_PROXIES/)
    // Each request uses a new connection, so that all workers get some.
    const headers = { ...forged, connection: 'close' }
    for (let at = 0; at < 8; at += 1) await send(server.url, '/settings', { headers })
    const path = '"path":"/settings"'
    await until(() => server.output().split(path).length > 8)
    const lines = server.output().split('\n')
    const warnings = lines.filter((line) => line.includes('which is not trusted'))
    assert.equal(warnings.length, 1, warnings.join('\n'))
    assert.match(
      warnings[0] ?? '',
      /"warning".*127\.0\.0\.1.*x-forwarded-for.*AUTH_TRUSTED_PROXIES/,
    )
    // A connection handed over to a worker keeps the address of the client.
    const logged = lines.filter((line) => line.includes(path))
    assert.equal(logged.length, 8)
    for (const line of logged) assert.match(line, /"remote_addr":"127\.0\.0\.1"/)
    await server.stop('SIGTERM')
  }
})
