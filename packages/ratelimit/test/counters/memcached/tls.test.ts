/**
 * @servers memcached
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createServer, type TlsOptions } from 'node:tls'
import { type Authority, createAuthority, type Identity, open } from '@portcullis/test-servers'
import { openMemcachedStore } from '../../../src/counters/memcached/memcached-store.ts'
import { createLines } from '../redis/support/store.ts'
import { count, openReadyStore, type StoreOptions } from './support/store.ts'

/** A memcached server that is reached only through its TLS port. */
async function openTls(t: TestContext, identity: Identity, options: TlsOptions = {}) {
  const memcached = await open(t, 'memcached')
  if (!memcached) return undefined
  const { certificate: cert, key } = identity
  const server = createServer({ cert, key, ...options }, (client) => {
    const upstream = connect({ host: '127.0.0.1', port: memcached.port, noDelay: true })
    client.pipe(upstream).pipe(client)
    for (const socket of [client, upstream]) {
      socket.on('error', () => undefined)
      socket.on('close', () => {
        client.destroy()
        upstream.destroy()
      })
    }
  })
  server.on('tlsClientError', () => undefined)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const write = async (name: string, text: string) => {
    const file = join(memcached.folder, name)
    await writeFile(file, text)
    return file
  }
  return { port, write }
}

async function countTwice(t: TestContext, options: StoreOptions): Promise<[number, string]> {
  const { lines, log } = createLines()
  const store = await openReadyStore(t, { ...options, log })
  await count(store, 'a_')
  const after = await count(store, 'a_')
  await store[Symbol.asyncDispose]()
  return [after, lines.join('\n')]
}

const authority: Authority = createAuthority('Test CA')

test('a node with TLS is used only if its CA is configured', async (t) => {
  const node = await openTls(t, authority.issue('127.0.0.1'))
  if (!node) return
  const ports = [node.port]
  const caFile = await node.write('ca.pem', authority.certificate)
  assert.equal((await countTwice(t, { ports, tls: { caFile } }))[0], 2)
  const [after, log] = await countTwice(t, { ports, tls: {} })
  assert.equal(after, 1)
  assert.match(log, /unable to (verify|get)|self.signed/i)
})

test('a certificate for another host is refused, unless the name is not verified', async (t) => {
  const node = await openTls(t, authority.issue('cache.example.test'))
  if (!node) return
  const ports = [node.port]
  const caFile = await node.write('ca.pem', authority.certificate)
  const [after, log] = await countTwice(t, { ports, tls: { caFile } })
  assert.equal(after, 1)
  assert.match(log, /does not match|not in the cert/i)
  const tls = { caFile, skipHostnameVerification: true }
  assert.equal((await countTwice(t, { ports, tls }))[0], 2)
})

test('a client certificate is presented to a node that requires one', async (t) => {
  const node = await openTls(t, authority.issue('127.0.0.1'), {
    requestCert: true,
    rejectUnauthorized: true,
    ca: authority.certificate,
  })
  if (!node) return
  const ports = [node.port]
  const client = authority.issue('client')
  const caFile = await node.write('ca.pem', authority.certificate)
  const certFile = await node.write('client.pem', client.certificate)
  const keyFile = await node.write('client.key', client.key)
  assert.equal((await countTwice(t, { ports, tls: { caFile } }))[0], 1)
  assert.equal((await countTwice(t, { ports, tls: { caFile, certFile, keyFile } }))[0], 2)
})

test('files that cannot be used are an error at startup', () => {
  const nodes = { kind: 'list', hosts: ['127.0.0.1:1'] } as const
  const { log } = createLines()
  const openWith = (tls: StoreOptions['tls']) => openMemcachedStore({ nodes, tls, log })
  const message =
    /CA certificate \/nowhere\/ca\.pem for memcached cannot be read: no such file or directory$/
  assert.throws(() => openWith({ caFile: '/nowhere/ca.pem' }), message)
  assert.throws(
    () => openWith({ certFile: '/nowhere/cert.pem' }),
    /certificate and its key together/,
  )
})
