/**
 * @servers memcached
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { open } from '@portcullis/test-servers'
import type { ResolveSrv, SrvTarget } from '../../../src/counters/memcached/settings.ts'
import { SrvLookup } from '../../../src/counters/memcached/srv.ts'
import { openProxy } from '../redis/support/proxy.ts'
import { createLines } from '../redis/support/store.ts'
import { eventually, storedCount } from './support/memcached-client.ts'
import { count, openReadyStore, openStore, read } from './support/store.ts'

const record = '_memcache._tcp.example.test'

/** A DNS server with configurable answers. */
class Names {
  targets: readonly SrvTarget[]
  failure: Error | undefined
  lookups = 0

  constructor(targets: readonly SrvTarget[]) {
    this.targets = targets
  }

  readonly resolveSrv: ResolveSrv = async (asked) => {
    this.lookups++
    assert.equal(asked, record)
    if (this.failure) throw this.failure
    return this.targets
  }
}

test('the nodes of a record are used in the order of their names', async (t) => {
  const [one, two] = [await open(t, 'memcached'), await open(t, 'memcached')]
  if (!one || !two) return
  const sorted = [one.port, two.port].sort((a, b) => (`${a}` < `${b}` ? -1 : 1))
  const targets = sorted.map((port) => ({ name: '127.0.0.1', port }))
  const { resolveSrv } = new Names(targets.toReversed())
  const nodes = { kind: 'srv', record, refreshMs: 0 } as const
  const [bySrv, byList] = [
    await openReadyStore(t, { nodes, resolveSrv }),
    await openReadyStore(t, { ports: sorted }),
  ]
  for (let i = 0; i < 20; i++) {
    assert.equal(await count(bySrv, `k${i}_`), 1)
    await read(bySrv, `k${i}_`)
    assert.equal(await count(byList, `k${i}_`), 2)
  }
})

test('names are sorted with their trailing dot, as in Go', async () => {
  const found: (readonly string[])[] = []
  const target = (name: string, port = 11211) => ({ name, port })
  using lookup = new SrvLookup({
    record,
    refreshMs: 0,
    resolveSrv: async () => [
      ...[target('cache'), target('cache.b'), target('cache-2')],
      ...[target('b', 9), target('b', 10)],
    ],
    onAddresses: (addresses) => found.push(addresses),
    log: createLines().log,
  })
  await lookup.start()
  const expected = ['b:10', 'b:9', 'cache-2:11211', 'cache:11211', 'cache.b:11211']
  assert.deepEqual(found, [expected])
})

test('a record that cannot be resolved at startup is an error', async (t) => {
  const nodes = { kind: 'srv', record, refreshMs: 0 } as const
  const names = new Names([])
  names.failure = new Error('querySrv ENOTFOUND')
  const store = openStore(t, { nodes, resolveSrv: names.resolveSrv })
  await assert.rejects(store.ready, /^Error: Unable to fetch servers from SRV _memcache.*ENOTFOUND/)
  await assert.rejects(count(store, 'a_'), /memcache: no servers configured or available/)
  const empty = openStore(t, { nodes, resolveSrv: new Names([]).resolveSrv })
  await assert.rejects(empty.ready, /Unable to fetch servers from SRV .* names no server/)
})

test('a refresh adds new nodes and keeps the connections to the others', async (t) => {
  const [one, two] = [await open(t, 'memcached'), await open(t, 'memcached')]
  if (!one || !two) return
  const proxy = await openProxy(t, one.port)
  const { lines, log } = createLines()
  const names = new Names([{ name: '127.0.0.1', port: proxy.port }])
  const nodes = { kind: 'srv', record, refreshMs: 20 } as const
  const store = await openReadyStore(t, { nodes, log, resolveSrv: names.resolveSrv })
  const wasConnected = /portcullis_ping/
  assert.match(Buffer.concat(proxy.sent).toString(), wasConnected)
  proxy.sent.length = 0
  names.targets = [
    { name: '127.0.0.1', port: proxy.port },
    { name: '127.0.0.1', port: two.port },
  ]
  const keys = Array.from({ length: 20 }, (_, i) => `k${i}_`)
  await eventually(
    () => lines.at(-1) ?? '',
    (line) => line.startsWith('info The memcached nodes are now 127.0.0.1:'),
  )
  for (const key of keys) assert.equal(await count(store, key), 1)
  for (const key of keys) assert.equal(await count(store, key), 2)
  await store[Symbol.asyncDispose]()
  assert.match(Buffer.concat(proxy.sent).toString(), /incr/)
  assert.doesNotMatch(Buffer.concat(proxy.sent).toString(), wasConnected)
  const stored = await Promise.all(keys.map((key) => storedCount(two.port, key)))
  assert.ok(stored.includes(2) && stored.includes(undefined))
})

test('a node that is no longer listed gets its last writes and is closed', async (t) => {
  const [one, two] = [await open(t, 'memcached'), await open(t, 'memcached')]
  if (!one || !two) return
  const proxy = await openProxy(t, one.port)
  const names = new Names([{ name: '127.0.0.1', port: proxy.port }])
  const nodes = { kind: 'srv', record, refreshMs: 20 } as const
  const store = await openReadyStore(t, { nodes, resolveSrv: names.resolveSrv })
  names.targets = [{ name: '127.0.0.1', port: two.port }]
  let counted = 0
  while (proxy.clients > 0) {
    await count(store, 'a_')
    counted++
  }
  const sum = async () =>
    ((await storedCount(one.port, 'a_')) ?? 0) + ((await storedCount(two.port, 'a_')) ?? 0)
  assert.equal(await eventually(sum, (value) => value === counted), counted)
  assert.ok(((await storedCount(two.port, 'a_')) ?? 0) > 0)
})

test('a refresh that fails keeps the nodes and warns', async (t) => {
  const memcached = await open(t, 'memcached')
  if (!memcached) return
  const { lines, log } = createLines()
  const names = new Names([{ name: '127.0.0.1', port: memcached.port }])
  const nodes = { kind: 'srv', record, refreshMs: 20 } as const
  const store = await openReadyStore(t, { nodes, log, resolveSrv: names.resolveSrv })
  assert.equal(await count(store, 'a_'), 1)
  const isWarning = (line: string) =>
    /^warning Failed to refresh.* the known nodes are kept: /.test(line)
  for (const failure of [new Error('queryA ETIMEOUT'), undefined]) {
    names.failure = failure
    names.targets = []
    lines.length = 0
    await eventually(() => lines.some(isWarning), Boolean)
    assert.match(lines.join('\n'), failure ? /ETIMEOUT/ : /names no server/)
  }
  assert.equal(await count(store, 'a_'), 2)
})

test('there are no further lookups with a refresh of 0, or after closing', async (t) => {
  const memcached = await open(t, 'memcached')
  if (!memcached) return
  const targets = [{ name: '127.0.0.1', port: memcached.port }]
  const [never, often] = [new Names(targets), new Names(targets)]
  await openReadyStore(t, {
    nodes: { kind: 'srv', record, refreshMs: 0 },
    resolveSrv: never.resolveSrv,
  })
  const nodes = { kind: 'srv', record, refreshMs: 5 } as const
  const store = await openReadyStore(t, { nodes, resolveSrv: often.resolveSrv })
  await eventually(
    () => often.lookups,
    (lookups) => lookups > 3,
  )
  await store[Symbol.asyncDispose]()
  const lookups = often.lookups
  await new Promise((resolve) => setTimeout(resolve, 50))
  assert.ok(often.lookups <= lookups + 1)
  assert.equal(never.lookups, 1)
})
