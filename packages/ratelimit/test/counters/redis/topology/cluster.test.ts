/**
 * @servers redis, redis-cluster
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { findFreePort, open, type RedisCluster, type RedisNode } from '@portcullis/test-servers'
import { type Increment, StoreError } from '../../../../src/counters/counter-store.ts'
import { ReplyError } from '../../../../src/counters/redis/connection/resp-reader.ts'
import type { RedisStore } from '../../../../src/counters/redis/redis-store.ts'
import {
  parseRedirection,
  parseSlots,
  slotOf,
} from '../../../../src/counters/redis/topology/slots.ts'
import { command, listEndless } from '../support/redis-client.ts'
import {
  count,
  countUntilItWorks,
  openReadyStore,
  toIncrement,
  windowOf,
} from '../support/store.ts'

const window = windowOf(86_400)

/** Keys for each node whose counters of today are on that node. */
function keysOf(cluster: RedisCluster, perNode: number): string[][] {
  const keys: string[][] = cluster.nodes.map(() => [])
  for (let i = 0; keys.some((own) => own.length < perNode); i++) {
    const slot = slotOf(`key${i}_`, window)
    const node = slot <= 5460 ? 0 : slot <= 10_922 ? 1 : 2
    const own = keys[node]
    if (own && own.length < perNode) own.push(`key${i}_`)
  }
  return keys
}

async function idOf(node: RedisNode): Promise<string> {
  return String(await command(node, 'CLUSTER', 'MYID'))
}

async function until(probe: () => Promise<boolean>): Promise<void> {
  for (let left = 6000; left > 0; left--) {
    if (await probe().catch(() => false)) return
    await sleep(20)
  }
  assert.fail('it did not happen within two minutes')
}

/** One call with several counters. */
async function countAll(store: RedisStore, increments: readonly Increment[]): Promise<number[]> {
  const error = await new Promise((resolve) => {
    store.add(increments, Number.POSITIVE_INFINITY, resolve)
  })
  assert.equal(error, undefined)
  return increments.map(({ after }) => after)
}

// All tests share a cluster, because it takes two seconds to start. Tests that break it come last.
test('in a Redis Cluster', async (t) => {
  const cluster = await open(t, 'redis-cluster')
  if (!cluster) return
  const [first, second, third] = cluster.nodes
  if (!first || !second || !third) assert.fail('a cluster has three nodes')
  const store = await openReadyStore(t, { type: 'cluster', url: `127.0.0.1:${cluster.port}` })
  for (const node of cluster.nodes) {
    await command(node, 'CONFIG', 'SET', 'cluster-require-full-coverage', 'no')
    await command(node, 'CONFIG', 'SET', 'cluster-node-timeout', 500)
  }

  await t.test(
    'slots are the same as in Redis, including hash tags and non-ASCII keys',
    async () => {
      const keys = [
        'domain_key_value_',
        'über/日本語_',
        '{tag}a_',
        'a{b}{c}_',
        '{}a_',
        'a{b_',
        '}{x}_',
      ]
      for (const key of [...keys, 'x'.repeat(5000), `{${'y'.repeat(3000)}}_`]) {
        const wanted = await command(cluster, 'CLUSTER', 'KEYSLOT', `${key}1234`)
        assert.equal(slotOf(key, 1234), wanted, key.slice(0, 20))
      }
      assert.equal(slotOf('', 123_456_789), 12_739)
    },
  )

  await t.test('the counters of one call are spread over all nodes', async () => {
    const keys = keysOf(cluster, 10).flat()
    const counts = await countAll(
      store,
      keys.map((key) => toIncrement(key)),
    )
    assert.deepEqual(
      counts,
      keys.map(() => 1),
    )
    for (const node of cluster.nodes) {
      assert.equal(await command(node, 'DBSIZE'), 10)
      assert.deepEqual(await listEndless(node), [])
      await command(node, 'FLUSHALL')
    }
  })

  await t.test('a slot is followed during and after its migration', async () => {
    // Two counters in one slot of the first node: one exists before the migration, one is created during it.
    const [tag = ''] = keysOf(cluster, 1)[0] ?? []
    const slot = slotOf(`{${tag}${window}}`, window)
    const [from = first, to = second] = slot <= 5460 ? [first, second] : [second, first]
    if (slot > 10_922) assert.fail('not on the first two')
    const [old, fresh] = [`{${tag}${window}}old_`, `{${tag}${window}}new_`]
    assert.equal(await count(store, old), 1)
    await command(to, 'CLUSTER', 'SETSLOT', slot, 'IMPORTING', await idOf(from))
    await command(from, 'CLUSTER', 'SETSLOT', slot, 'MIGRATING', await idOf(to))
    // A missing counter is redirected to the new node with ASK; an existing one is counted on the old node.
    assert.equal(await count(store, fresh), 1)
    assert.equal(await count(store, fresh), 2)
    assert.equal(await count(store, fresh, { hits: -1 }), 1)
    assert.equal(await count(store, old), 2)
    await command(from, 'MIGRATE', '127.0.0.1', to.port, `${old}${window}`, 0, 1000)
    assert.equal(await count(store, old), 3)
    for (const node of cluster.nodes) {
      await command(node, 'CLUSTER', 'SETSLOT', slot, 'NODE', await idOf(to))
    }
    assert.deepEqual(await Promise.all([count(store, old), count(store, fresh)]), [4, 2])
    assert.deepEqual(await Promise.all([count(store, old), count(store, fresh)]), [5, 3])
    assert.equal(await command(to, 'CLUSTER', 'COUNTKEYSINSLOT', slot), 2)
    await count(store, `{${tag}${window}}after-the-EXPIREs_`)
    assert.deepEqual(await listEndless(to), [])
  })

  await t.test(
    'a store with an outdated map is redirected, in the order of its counts',
    async () => {
      const key = keysOf(cluster, 2)[0]?.[1] ?? ''
      for (const node of [second, first, third]) {
        await command(node, 'CLUSTER', 'SETSLOT', slotOf(key, window), 'NODE', await idOf(second))
      }
      const increments = [1, 2, 3].map((hits) => toIncrement(key, { hits }))
      assert.deepEqual(await countAll(store, increments), [1, 3, 6])
    },
  )

  await t.test('a store for a single server reports which setting is wrong', async (t) => {
    const single = await openReadyStore(t, { url: `127.0.0.1:${first.port}` })
    const elsewhere = keysOf(cluster, 3)[2]?.[2] ?? ''
    await assert.rejects(count(single, elsewhere), /MOVED .*a Redis Cluster needs the type cluster/)
  })

  await t.test(
    'a node that is down affects only its own counters, and is used again later',
    async () => {
      const [lost, kept, alsoKept] = keysOf(cluster, 4).map((own) => own[3] ?? '')
      if (!lost || !kept || !alsoKept) assert.fail('every node has a key')
      for (const key of [lost, kept, alsoKept]) assert.equal(await count(store, key), 1)
      await first.kill()
      await assert.rejects(count(store, lost), StoreError)
      assert.equal(await count(store, kept), 2)
      assert.equal(await count(store, alsoKept), 2)
      // This does not change after the other nodes have noticed.
      await until(async () => String(await command(second, 'CLUSTER', 'NODES')).includes('fail'))
      await assert.rejects(count(store, lost), StoreError)
      assert.equal(await count(store, kept), 3)
      await first.restart()
      await command(first, 'CONFIG', 'SET', 'cluster-node-timeout', 500)
      await countUntilItWorks(store, lost)
      assert.equal(await count(store, alsoKept), 3)
    },
  )

  await t.test('the replica of a killed master takes over', async (t) => {
    const key = keysOf(cluster, 5)[1]?.[4] ?? ''
    const replica = await openReplica(t, second)
    if (!replica) return
    assert.equal(await count(store, key), 1)
    const role = async () => String(await command(replica, 'INFO', 'replication'))
    await until(async () => (await role()).includes('master_link_status:up'))
    await until(async () => Number(await command(replica, 'DBSIZE')) > 0)
    await second.kill()
    assert.ok((await countUntilItWorks(store, key)) >= 2)
    assert.match(String(await command(replica, 'ROLE')), /^master/)
    assert.deepEqual(await listEndless(replica), [])
  })
})

async function openReplica(t: TestContext, master: RedisNode) {
  const replica = await open(t, 'redis', {
    args: [
      ...['--cluster-enabled', 'yes', '--cluster-node-timeout', '500'],
      ...['--cluster-config-file', 'replica.conf', '--cluster-port', `${await findFreePort()}`],
      ...['--repl-diskless-sync-delay', '0'],
    ],
  })
  if (!replica) return undefined
  const id = await idOf(master)
  await command(replica, 'CLUSTER', 'MEET', '127.0.0.1', master.port)
  await until(async () => String(await command(replica, 'CLUSTER', 'NODES')).includes(id))
  await until(async () => (await command(replica, 'CLUSTER', 'REPLICATE', id)) === 'OK')
  return replica
}

test('slot maps and redirections without a host refer to the node that was queried', () => {
  const node = (host: string | null, port: number) => [host, port, 'id', []]
  const reply = [
    [0, 1, node('', 1)],
    [2, 3, node(null, 2), node('replica', 3)],
    [4, 5, node('?', 4)],
    [6, 7, node('h', 5)],
    'nonsense',
  ]
  assert.deepEqual(
    parseSlots(reply, 'asked').map(({ first, last, master }) => [
      first,
      last,
      master.host,
      master.port,
    ]),
    [
      [0, 1, 'asked', 1],
      [2, 3, 'asked', 2],
      [4, 5, 'asked', 4],
      [6, 7, 'h', 5],
    ],
  )
  const to = (message: string) => parseRedirection(new ReplyError(message), 'asked')
  assert.deepEqual(to('MOVED 7 :99'), { slot: 7, endpoint: { host: 'asked', port: 99 } })
  assert.deepEqual(to('ASK 7 ::1:99'), { slot: 7, endpoint: { host: '::1', port: 99 } })
  assert.equal(to('ERR no'), undefined)
})
