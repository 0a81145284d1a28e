/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openFlowServer } from '../support/flow-server.ts'
import { newEmail, password, send } from '../support/http-client.ts'

const forged = '192.0.2.66'

interface Gateway {
  /** The one setting that docs/auth-migration-behaviours.md names. */
  readonly setting: Readonly<Record<string, string>>
  /** The headers that the gateway sends for a client that has forged all headers that it can. */
  readonly toHeaders: (client: string) => Readonly<Record<string, string>>
}

const gateways: Readonly<Record<string, Gateway>> = {
  Kong: {
    setting: { AUTH_TRUSTED_HOPS: '1' },
    // Kong appends to X-Forwarded-For, and replaces X-Real-IP and the others.
    toHeaders: (client) => ({
      'x-forwarded-for': `${forged}, ${client}`,
      'x-real-ip': client,
      'x-forwarded-proto': 'https',
      'x-forwarded-port': '8443',
      'x-forwarded-host': 'api.example',
      forwarded: `for=${forged}`,
    }),
  },
  Envoy: {
    setting: { AUTH_TRUSTED_HOPS: '1' },
    // With use_remote_address, Envoy appends to X-Forwarded-For.
    toHeaders: (client) => ({
      'x-forwarded-for': `${forged},${client}`,
      'x-envoy-external-address': client,
      'x-request-id': '4b1b7a3e-0000-4000-8000-000000000001',
      'x-real-ip': forged,
    }),
  },
  nginx: {
    setting: { AUTH_RATE_LIMIT_HEADER: 'X-Real-IP' },
    // proxy_set_header X-Real-IP $remote_addr
    toHeaders: (client) => ({ 'x-real-ip': client, 'x-forwarded-for': forged }),
  },
  'nginx that appends to X-Forwarded-For': {
    setting: { AUTH_TRUSTED_HOPS: '1' },
    // proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for
    toHeaders: (client) => ({ 'x-forwarded-for': `${forged}, ${client}` }),
  },
  Cloudflare: {
    setting: { AUTH_RATE_LIMIT_HEADER: 'CF-Connecting-IP' },
    toHeaders: (client) => ({
      'cf-connecting-ip': client,
      'cf-ray': '7d1f6c2e0000-FRA',
      'cf-visitor': '{"scheme":"https"}',
      'x-forwarded-for': `${forged}, ${client}`,
      'true-client-ip': forged,
    }),
  },
  'Cloudflare in front of Kong': {
    setting: { AUTH_TRUSTED_HOPS: '2' },
    toHeaders: (client) => ({
      'x-forwarded-for': `${forged}, ${client}, 198.51.100.7`,
      'x-real-ip': '198.51.100.7',
    }),
  },
}

for (const [name, { setting, toHeaders }] of Object.entries(gateways)) {
  test(`behind ${name}, one setting gives every client its own address and limit`, async (t) => {
    const server = await openFlowServer(t, {
      ...setting,
      AUTH_MAILER_AUTOCONFIRM: 'true',
      AUTH_RATE_LIMIT_VERIFY: '30',
    })
    if (!server) return
    for (const client of ['203.0.113.9', '2001:db8:1:2::9']) {
      const email = newEmail()
      const signedUp = await server.post('/signup', { email, password }, toHeaders(client))
      const [session] = await server.query('select ip from sessions where user_id = $1', [
        signedUp.body.user.id,
      ])
      assert.equal(session.ip, client)
    }
    const verify = (client: string) =>
      send(server.url, '/verify', {
        body: { type: 'signup', token_hash: 'unknown' },
        headers: toHeaders(client),
      })
    const statuses = new Set<number>()
    for (let count = 0; count < 40; count += 1) statuses.add((await verify('203.0.113.9')).status)
    assert.deepEqual([...statuses], [403, 429], 'the busy client is limited')
    assert.equal((await verify('203.0.113.10')).status, 403, 'the other client is not')
    assert.ok(!server.log.some((line) => line.includes('which is not trusted')))
  })
}
