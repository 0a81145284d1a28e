/**
 * @servers redis
 */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createAuthority, findFreePort, open } from '@portcullis/test-servers'
import { command } from '../support/redis-client.ts'
import { count, openReadyStore, openStore } from '../support/store.ts'

const atOnce = { initialIntervalMs: 10, maxIntervalMs: 10, maxElapsedMs: 1 }

test('an ACL user with a password counts in the database of the URL', async (t) => {
  const redis = await open(t, 'redis')
  if (!redis) return
  await command(redis, 'ACL', 'SETUSER', 'counter', 'on', '>se:same', '~*', '+@all')
  const url = `redis://unknown:wrong@127.0.0.1:${redis.port}/3`
  const store = await openReadyStore(t, { url, auth: 'counter:se:same' })
  assert.equal(await count(store, 'k_'), 1)
  assert.match(String(await command(redis, 'INFO', 'keyspace')), /db3:keys=1/)
  const byUrl = await openReadyStore(t, { url: url.replace('unknown:wrong', 'counter:se%3Asame') })
  assert.equal(await count(byUrl, 'k_'), 2)
  const wrong = openStore(t, { url, startup: atOnce })
  await assert.rejects(wrong.ready, /WRONGPASS/)
})

test('a password without a user is the default user', async (t) => {
  const redis = await open(t, 'redis', { password: 'sesame' })
  if (!redis) return
  const url = `127.0.0.1:${redis.port}`
  const store = await openReadyStore(t, { url, auth: 'sesame' })
  assert.equal(await count(store, 'k_'), 1)
})

test('a database that does not exist is an error at startup', async (t) => {
  const redis = await open(t, 'redis')
  if (!redis) return
  const store = openStore(t, { url: `redis://127.0.0.1:${redis.port}/99`, startup: atOnce })
  await assert.rejects(store.ready, /DB index is out of range/)
})

test('a Unix socket works like TCP', async (t) => {
  const redis = await open(t, 'redis', { args: ['--unixsocket', 'redis.sock'] })
  if (!redis) return
  const url = join(redis.folder, 'redis.sock')
  const store = await openReadyStore(t, { socketType: 'unix', url })
  assert.equal(await count(store, 'k_'), 1)
  const missing = openStore(t, { socketType: 'unix', url: `${url}-not`, startup: atOnce })
  await assert.rejects(missing.ready, /Redis at .*redis\.sock-not: .*ENOENT/)
})

test('only commands that every proxy supports are sent', async (t) => {
  const redis = await open(t, 'redis')
  if (!redis) return
  const store = await openReadyStore(t, { url: `127.0.0.1:${redis.port}` })
  for (const hits of [1, 1, 0, -1]) await count(store, 'k_', { hits })
  await command(redis, 'FLUSHALL')
  await count(store, 'k_')
  await count(store, 'k_')
  const stats = String(await command(redis, 'INFO', 'commandstats'))
  const used = [...stats.matchAll(/cmdstat_(\w+)/g)].map(([, name]) => name)
  const ofTheTest = new Set(['flushall', 'info'])
  const known = new Set(['ping', 'set', 'incrby', 'expire', 'get', 'eval'])
  const unknown = used.filter((name) => name && !known.has(name) && !ofTheTest.has(name))
  assert.deepEqual(unknown, [])
})

async function openTlsRedis(t: TestContext, certifiedName: string) {
  const authority = createAuthority('test authority')
  const untrusted = createAuthority('another CA')
  const server = authority.issue(certifiedName)
  const client = authority.issue('client')
  const tlsPort = await findFreePort()
  const redis = await open(t, 'redis')
  if (!redis) return undefined
  const files: Record<string, string> = {
    'ca.pem': authority.certificate,
    'untrusted.pem': untrusted.certificate,
    'server.pem': server.certificate,
    'server.key': server.key,
    'client.pem': client.certificate,
    'client.key': client.key,
  }
  const path = (name: string) => join(redis.folder, name)
  for (const [name, content] of Object.entries(files)) await writeFile(path(name), content)
  const settings = {
    'tls-cert-file': path('server.pem'),
    'tls-key-file': path('server.key'),
    'tls-ca-cert-file': path('ca.pem'),
    'tls-port': `${tlsPort}`,
  }
  await command(redis, 'CONFIG', 'SET', ...Object.entries(settings).flat())
  return { redis, path, port: tlsPort }
}

test('TLS verifies the server and presents the client certificate', async (t) => {
  const server = await openTlsRedis(t, '127.0.0.1')
  if (!server) return
  const { redis, path, port } = server
  const url = `127.0.0.1:${port}`
  const certified = { certFile: path('client.pem'), keyFile: path('client.key') }
  const tls = { caFile: path('ca.pem'), ...certified }

  const store = await openReadyStore(t, { url, tls })
  const counts = await Promise.all(Array.from({ length: 500 }, () => count(store, 'k_')))
  assert.deepEqual(
    counts.sort((a, b) => a - b),
    counts.map((_, i) => i + 1),
  )

  const without = openStore(t, { url, tls: { caFile: path('ca.pem') }, startup: atOnce })
  await assert.rejects(without.ready, /Redis at .*(certificate required|closed|ECONNRESET|alert)/)
  await command(redis, 'CONFIG', 'SET', 'tls-auth-clients', 'no')
  const unasked = await openReadyStore(t, { url, tls: { caFile: path('ca.pem') } })
  assert.equal(await count(unasked, 'k_'), 501)

  const unknown = openStore(t, { url, tls: { caFile: path('untrusted.pem') }, startup: atOnce })
  await assert.rejects(unknown.ready, /unable to verify|self-signed|unable to get/)
  const systemOnly = openStore(t, { url: `rediss://${url}`, startup: atOnce })
  await assert.rejects(systemOnly.ready, /unable to verify|self-signed|unable to get/)
})

test('TLS with another name in the certificate needs a setting, with which the chain is still verified', async (t) => {
  const server = await openTlsRedis(t, 'redis.example')
  if (!server) return
  const { redis, path, port } = server
  await command(redis, 'CONFIG', 'SET', 'tls-auth-clients', 'no')
  const url = `127.0.0.1:${port}`
  const strict = openStore(t, { url, tls: { caFile: path('ca.pem') }, startup: atOnce })
  await assert.rejects(strict.ready, /does not match certificate's altnames/)
  const skipHostnameVerification = true
  const tls = { caFile: path('ca.pem'), skipHostnameVerification }
  const store = await openReadyStore(t, { url, tls })
  assert.equal(await count(store, 'k_'), 1)
  const untrusted = { caFile: path('untrusted.pem'), skipHostnameVerification }
  const refused = openStore(t, { url, tls: untrusted, startup: atOnce })
  await assert.rejects(refused.ready, /unable to verify|self-signed|unable to get/)
})

test('TLS files that cannot be used are a configuration error', () => {
  const openWith = (tls: object) => () => openStore({ after() {} }, { url: 'h:1', tls })
  const message =
    /CA certificate \/nowhere\/ca\.pem for .* cannot be read: no such file or directory$/
  assert.throws(openWith({ caFile: '/nowhere/ca.pem' }), message)
  assert.throws(openWith({ certFile: 'a.pem' }), /together/)
})
