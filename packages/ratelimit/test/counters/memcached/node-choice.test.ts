/**
 * @servers memcached
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { open } from '@portcullis/test-servers'
import { openMemcachedStore } from '../../../src/counters/memcached/memcached-store.ts'
import { openProxy } from '../redis/support/proxy.ts'
import { createLines } from '../redis/support/store.ts'
import { storedCount } from './support/memcached-client.ts'
import { count, countAll, openReadyStore, read, toIncrement } from './support/store.ts'

/** CRC-32 (IEEE) bit by bit, as in the standard. */
function crcOf(text: string): number {
  let crc = 0xffffffff
  for (const byte of Buffer.from(text)) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  return (crc ^ 0xffffffff) >>> 0
}

test('the node of a counter is the CRC-32 of its name modulo the number of nodes, in list order', async (t) => {
  const [first, second, third] = [
    await open(t, 'memcached'),
    await open(t, 'memcached'),
    await open(t, 'memcached'),
  ]
  if (!first || !second || !third) return
  assert.equal(crcOf('123456789'), 0xcbf43926)
  const ports = [third.port, first.port, second.port]
  const store = await openReadyStore(t, { ports })
  const keys = Array.from({ length: 60 }, (_, i) => `domain_key_ü${i}_`)
  const counts = await countAll(
    store,
    keys.map((key) => toIncrement(key)),
  )
  assert.ok(counts.every((after) => after === 1))
  await Promise.all(keys.map((key) => read(store, key)))
  const used = new Set<number>()
  for (const key of keys) {
    const expected = crcOf(`${key}${toIncrement(key).window}`) % 3
    used.add(expected)
    for (const [i, port] of ports.entries()) {
      assert.equal(await storedCount(port, key), i === expected ? 1 : undefined)
    }
  }
  assert.equal(used.size, 3)
})

test('each node is read once per call', async (t) => {
  const [first, second] = [await open(t, 'memcached'), await open(t, 'memcached')]
  if (!first || !second) return
  const proxies = [await openProxy(t, first.port), await openProxy(t, second.port)]
  const store = await openReadyStore(t, { ports: proxies.map(({ port }) => port) })
  for (const proxy of proxies) proxy.sent.length = 0
  const increments = Array.from({ length: 20 }, (_, i) => toIncrement(`k${i}_`, { hits: 0 }))
  assert.deepEqual(new Set(await countAll(store, increments)), new Set([0]))
  const commands = proxies.map(({ sent }) => Buffer.concat(sent).toString())
  for (const text of commands) assert.match(text, /^get( \S+)+\r\n$/)
  assert.equal(
    commands
      .join(' ')
      .split(/\s+/)
      .filter((word) => word.startsWith('k')).length,
    20,
  )
})

test('a node may be a unix socket', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'memcached-'))
  t.after(() => rm(folder, { recursive: true }))
  const path = join(folder, 'memcached.sock')
  const server = createServer((socket) => {
    // A minimal memcached: no counter exists, and all can be created.
    socket.on('data', (bytes) => {
      for (const line of bytes.toString().split('\r\n')) {
        if (line.startsWith('get ')) socket.write('END\r\n')
        if (line.startsWith('add ')) socket.write('STORED\r\n')
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  t.after(() => server.close())
  const store = await openReadyStore(t, { nodes: { kind: 'list', hosts: [path] } })
  assert.equal(await count(store, 'a_'), 1)
})

test('invalid addresses are refused at startup', () => {
  const { log } = createLines()
  const open = (...hosts: string[]) => openMemcachedStore({ nodes: { kind: 'list', hosts }, log })
  assert.throws(() => open(), /no servers configured or available/)
  assert.throws(
    () => open('localhost'),
    /localhost is not the address of a memcached node: use host:port/,
  )
  assert.throws(() => open('localhost:70000'), /localhost:70000 is not the address/)
  assert.throws(() => open('a b:1'), /a b:1 is not the address/)
})
