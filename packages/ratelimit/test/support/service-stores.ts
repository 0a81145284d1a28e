import type { TestContext } from 'node:test'
import { open } from '@portcullis/test-servers'
import { command, type Target } from '../counters/redis/support/redis-client.ts'

/** A counter store of a service, opened for a test. */
export interface TestStore {
  readonly env: Readonly<Record<string, string>>
  /**
   * The start of the day that a test uses as its time. For the memory store it is in the future, because that
   * store drops counters that are expired by the real clock.
   */
  readonly daySeconds: number
  /** Access to the content of the store; missing if only the service can read it. */
  readonly inside?: StoreInside
}

export interface StoreInside {
  /** Every counter by its key. */
  counters(): Promise<Record<string, number>>
  /** The counters of the instance for limits per second, if there is one; otherwise all counters. */
  countersPerSecond(): Promise<Record<string, number>>
  /** The remaining seconds of each key; -1 for a key without a TTL. */
  lifetimes(): Promise<Record<string, number>>
  /** Counts like envoyproxy/ratelimit: adds to a key and sets its TTL. */
  count(key: string, hits: number | string): Promise<void>
  /** The number of commands so far that read or changed counters. */
  commandCount(): Promise<number>
  clear(): Promise<void>
}

type OpenStore = (t: TestContext) => Promise<TestStore | undefined>

/** The start of the day of the worked example, which is at 1700000000. */
const exampleDay = 1_699_920_000

/** Every kind of counter store. */
export const stores: Readonly<Record<string, OpenStore>> = {
  memory: async () => {
    const today = Math.floor(Date.now() / 86_400_000) * 86_400
    return { env: { BACKEND_TYPE: 'memory' }, daySeconds: today + 2 * 86_400 }
  },
  redis: async (t) => {
    const redis = await open(t, 'redis')
    return redis && toStore({ KVSTORE_URL: `127.0.0.1:${redis.port}` }, [redis])
  },
  'redis cluster': async (t) => {
    const cluster = await open(t, 'redis-cluster')
    if (!cluster) return undefined
    const KVSTORE_URL = cluster.nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')
    return toStore({ KVSTORE_TYPE: 'cluster', KVSTORE_URL }, cluster.nodes)
  },
  'redis sentinel': async (t) => {
    const sentinel = await open(t, 'redis-sentinel')
    if (!sentinel) return undefined
    const { master, masterName, sentinels } = sentinel
    const addresses = sentinels.map(({ port }) => `127.0.0.1:${port}`)
    const KVSTORE_URL = [masterName, ...addresses].join(',')
    return toStore({ KVSTORE_TYPE: 'sentinel', KVSTORE_URL }, [master])
  },
  'redis with another for limits per second': async (t) => {
    const [others, perSecond] = await Promise.all([open(t, 'redis'), open(t, 'redis')])
    if (!others || !perSecond) return undefined
    const env = {
      KVSTORE_URL: `127.0.0.1:${others.port}`,
      KVSTORE_PERSECOND: 'true',
      KVSTORE_PERSECOND_URL: `127.0.0.1:${perSecond.port}`,
    }
    return toStore(env, [others], [perSecond])
  },
}

function toStore(
  env: TestStore['env'],
  nodes: readonly Target[],
  perSecond?: readonly Target[],
): TestStore {
  const all = [...nodes, ...(perSecond ?? [])]
  return {
    env,
    daySeconds: exampleDay,
    inside: {
      counters: () => collect(nodes, 'GET'),
      countersPerSecond: () => collect(perSecond ?? nodes, 'GET'),
      lifetimes: () => collect(all, 'TTL'),
      async count(key, hits) {
        const attempts = await Promise.allSettled(
          nodes.map(async (node) => {
            await command(node, 'INCRBY', key, hits)
            await command(node, 'EXPIRE', key, 3_600)
          }),
        )
        // In a cluster, all nodes but one refuse the key.
        if (attempts.every(({ status }) => status === 'rejected')) {
          throw new AggregateError(attempts, 'no node accepted the key')
        }
      },
      async commandCount() {
        const counts = await Promise.all(all.map(countCommands))
        return counts.reduce((sum, count) => sum + count, 0)
      },
      async clear() {
        await Promise.all(all.map((node) => command(node, 'FLUSHALL')))
      },
    },
  }
}

/** Excludes the commands of the test itself. */
const counting = /^cmdstat_(?:incr|incrby|decr|decrby|mget|set|expire|pexpire|eval|evalsha):/

async function countCommands(node: Target): Promise<number> {
  const lines = `${await command(node, 'INFO', 'commandstats')}`.split('\r\n')
  return lines
    .filter((line) => counting.test(line))
    .reduce((sum, line) => sum + Number(/calls=(\d+)/.exec(line)?.[1] ?? 0), 0)
}

async function collect(nodes: readonly Target[], word: 'GET' | 'TTL') {
  const found: Record<string, number> = {}
  for (const node of nodes) {
    const keys = await command(node, 'KEYS', '*')
    for (const key of Array.isArray(keys) ? keys : []) {
      found[`${key}`] = Number(await command(node, word, `${key}`))
    }
  }
  return found
}
