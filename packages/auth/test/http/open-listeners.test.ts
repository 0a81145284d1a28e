/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { lookup } from 'node:dns/promises'
import { networkInterfaces } from 'node:os'
import { test } from 'node:test'
import Fastify from 'fastify'
import { listenOnFirst, toListenHosts } from '../../src/http/open-listeners.ts'
import { openFlowServer } from '../support/flow-server.ts'
import { newEmail, password, send } from '../support/http-client.ts'

/** RFC 5737 reserves this address for documentation, so no machine has it. */
const notOurs = '203.0.113.1'

test('a host that the machine does not have is skipped if there is another candidate', async (t) => {
  const server = Fastify()
  t.after(() => server.close())
  const listen = (host: string) => server.listen({ host, port: 0 })
  const url = await listenOnFirst([notOurs, '127.0.0.1'], listen)
  assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/)
  assert.equal((await fetch(url)).status, 404)
})

test('a configured host is not replaced by another', async () => {
  assert.deepEqual(toListenHosts(notOurs), [notOurs])
  await assert.rejects(
    listenOnFirst(toListenHosts(notOurs), (host) => Fastify().listen({ host, port: 0 })),
    { code: 'EADDRNOTAVAIL' },
  )
})

test('without AUTH_API_HOST the server is reachable over IPv4 and IPv6 and records the client address', async (t) => {
  const server = await openFlowServer(t, { AUTH_API_HOST: '' })
  if (!server) return
  const { port } = new URL(server.url)
  const addresses = ['127.0.0.1', ...(hasIPv6() ? ['::1'] : [])]
  for (const address of addresses) {
    const url = `http://${address.includes(':') ? `[${address}]` : address}:${port}`
    const { status } = await send(url, '/signup', { body: { email: newEmail(), password } })
    assert.equal(status, 200, address)
  }
  const entries = await server.query('select ip_address from audit_log_entries order by created_at')
  assert.deepEqual(
    entries.map((entry) => entry['ip_address']),
    addresses,
  )
})

test('with AUTH_API_HOST=localhost the server listens on all addresses of that name', async (t) => {
  const server = await openFlowServer(t, { AUTH_API_HOST: 'localhost' })
  if (!server) return
  const { port } = new URL(server.url)
  const addresses = await lookup('localhost', { all: true })
  assert.ok(addresses.length > 0)
  for (const { address, family } of addresses) {
    const url = `http://${family === 6 ? `[${address}]` : address}:${port}`
    const isReachable = family === 4 || hasIPv6()
    if (isReachable) assert.equal((await send(url, '/health')).status, 200, address)
  }
})

function hasIPv6(): boolean {
  return Object.values(networkInterfaces()).some((all) =>
    all?.some(({ address }) => address === '::1'),
  )
}
