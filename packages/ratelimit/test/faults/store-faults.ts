import { open, type RedisServer } from '@portcullis/test-servers'
import { slotOf } from '../../src/counters/redis/topology/slots.ts'
import { command } from '../counters/redis/support/redis-client.ts'
import { until } from '../support/service-process.ts'
import type { Fault } from './fault.ts'
import { values } from './steady-load.ts'

const nothing = async () => {}
const addressOf = ({ port }: { readonly port: number }) => `127.0.0.1:${port}`

interface RedisFault extends Omit<Fault, 'open'> {
  readonly break: (redis: RedisServer) => Promise<void>
  readonly heal: (redis: RedisServer) => Promise<void>
}

function withRedis({ name, expected, ...steps }: RedisFault): Fault {
  return {
    name,
    expected,
    async open(t) {
      const redis = await open(t, 'redis')
      return (
        redis && {
          env: { KVSTORE_URL: addressOf(redis) },
          break: () => steps.break(redis),
          heal: () => steps.heal(redis),
        }
      )
    },
  }
}

const windowOf = () => Math.floor(Date.now() / 86_400_000) * 86_400

/** Faults of the servers that have the counters. */
export const storeFaults: readonly Fault[] = [
  withRedis({
    name: 'Redis killed, later started again without its data',
    expected: 'all fail',
    break: (redis) => redis.kill(),
    heal: (redis) => redis.restart(),
  }),
  withRedis({
    name: 'Redis paused (SIGSTOP)',
    expected: 'all fail',
    break: async (redis) => redis.pause(),
    heal: async (redis) => redis.resume(),
  }),
  withRedis({
    name: 'Redis restarted empty at once',
    expected: 'some fail',
    break: (redis) => redis.restart(),
    heal: nothing,
  }),
  {
    name: 'master killed, sentinels fail over',
    expected: 'all fail',
    async open(t) {
      const sentinel = await open(t, 'redis-sentinel')
      if (!sentinel) return undefined
      const { master, masterName, sentinels, replica } = sentinel
      return {
        env: {
          KVSTORE_TYPE: 'sentinel',
          KVSTORE_URL: [masterName, ...sentinels.map(addressOf)].join(','),
        },
        break: () => master.kill(),
        heal: () =>
          until(
            // Sentinel closes all connections of the replica when it becomes the master, also this one.
            async () => `${await command(replica, 'ROLE').catch(() => '')}`.startsWith('master'),
            () => 'the replica became the master',
          ),
      }
    },
  },
  {
    name: 'a slot of a cluster moved to another node',
    expected: 'all answered',
    async open(t) {
      const cluster = await open(t, 'redis-cluster')
      if (!cluster) return undefined
      const slots = values.map((value) => slotOf(`d_k_${value}_`, windowOf()))
      const slot = slots.find((candidate) => candidate <= 5_460)
      const [from, to] = cluster.nodes
      if (slot === undefined || !from || !to) throw new Error('no counter on the first node')
      return {
        env: { KVSTORE_TYPE: 'cluster', KVSTORE_URL: cluster.nodes.map(addressOf).join(',') },
        break: async () => {
          const idOf = async (node: typeof from) => `${await command(node, 'CLUSTER', 'MYID')}`
          const [fromId, toId] = [await idOf(from), await idOf(to)]
          await command(to, 'CLUSTER', 'SETSLOT', slot, 'IMPORTING', fromId)
          await command(from, 'CLUSTER', 'SETSLOT', slot, 'MIGRATING', toId)
          const keys = await command(from, 'CLUSTER', 'GETKEYSINSLOT', slot, 100)
          for (const key of Array.isArray(keys) ? keys : []) {
            await command(from, 'MIGRATE', '127.0.0.1', to.port, `${key}`, 0, 60_000)
          }
          for (const node of [to, from, ...cluster.nodes.slice(2)]) {
            await command(node, 'CLUSTER', 'SETSLOT', slot, 'NODE', toId)
          }
        },
        heal: nothing,
      }
    },
  },
  {
    name: 'a node of a cluster killed (its counters only)',
    expected: 'some fail',
    async open(t) {
      const cluster = await open(t, 'redis-cluster')
      const [first] = cluster?.nodes ?? []
      if (!cluster || !first) return undefined
      for (const node of cluster.nodes) {
        await command(node, 'CONFIG', 'SET', 'cluster-require-full-coverage', 'no')
      }
      return {
        env: { KVSTORE_TYPE: 'cluster', KVSTORE_URL: cluster.nodes.map(addressOf).join(',') },
        break: () => first.kill(),
        heal: async () => {
          await first.restart()
          await until(
            async () => `${await command(first, 'CLUSTER', 'INFO')}`.includes('cluster_state:ok'),
            () => 'the node is back in its cluster',
          )
        },
      }
    },
  },
  {
    // Its counters count as 0, so clients notice nothing.
    name: 'one of two memcached nodes killed',
    expected: 'all answered',
    async open(t) {
      const nodes = await Promise.all([open(t, 'memcached'), open(t, 'memcached')])
      const [kept, lost] = nodes
      if (!kept || !lost) return undefined
      return {
        env: {
          BACKEND_TYPE: 'memcache',
          MEMCACHE_HOST_PORT: [kept, lost].map(addressOf).join(','),
        },
        break: () => lost.kill(),
        heal: () => lost.restart(),
      }
    },
  },
]
