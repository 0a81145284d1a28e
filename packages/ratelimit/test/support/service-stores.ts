import type { TestContext } from 'node:test'
import { open } from '@portcullis/test-servers'
import { command, type Target } from '../counters/redis/support/redis-client.ts'

/** A place where a service counts, opened for a test. */
export interface TestStore {
  readonly env: Readonly<Record<string, string>>
  /**
   * The start of a day that a test may pretend to live in. The memory store drops what is long over
   * by the real clock, so there it lies ahead.
   */
  readonly daySeconds: number
  /** What the store holds; missing where nobody but the service can look inside. */
  readonly inside?: StoreInside
}

export interface StoreInside {
  /** Every counter by its key. */
  counters(): Promise<Record<string, number>>
  /** Of the instance for limits per second, where there is one; otherwise the same. */
  countersPerSecond(): Promise<Record<string, number>>
  /** Seconds that each key has left; -1 for one that would stay for ever. */
  lifetimes(): Promise<Record<string, number>>
  /** What an old server does: adds to a key, which it then lets expire. */
  count(key: string, hits: number | string): Promise<void>
  /** How many commands that read or change counters were carried out so far. */
  commandCount(): Promise<number>
  clear(): Promise<void>
}

type OpenStore = (t: TestContext) => Promise<TestStore | undefined>

/** 00:00 of the day of the worked example in the reference, which is at 1700000000. */
const exampleDay = 1_699_920_000

/** Every set-up that a service can count in. */
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
        // In a cluster all but one say that the key is not theirs.
        if (attempts.every(({ status }) => status === 'rejected')) {
          throw new AggregateError(attempts, 'no node took the key')
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

/** Not the test's own ones: those would count themselves. */
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
