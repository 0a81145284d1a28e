// The contract of counter stores, for the stores that are written with a library: what is compared
// does the same work. `npm run bench -- hand-written --contract` runs it, after installing the libraries.

import { openMemcached, openRedis, openRedisCluster } from '@portcullis/test-servers'
import { type ContractPoint, testCounterStore } from '../../test/counters/contract.ts'
import { contenders, type Expiry, openContender, type ServerAddress } from './contenders.ts'

type Exceptions = { readonly [Point in ContractPoint]?: string }

const keyRules = 'memcached keys have no whitespace or control characters'
const wideNumbers = 'memjs writes increments in 32 bits'

/** 2^53 - 1 comes as 2^53: both compute `10 * number + digit` with the code of the digit. */
const redisExceptions: Exceptions = {
  'counts big hits exactly': 'the reply parsers of the libraries are not exact up to 2^53 - 1',
}
const clusterExceptions: Exceptions = {
  'moves no other counter for any of 300 concurrent calls that are refused':
    'counters in several slots are looked at and then changed',
}

const memcachedExceptions: Exceptions = {
  'gives 1,000 concurrent calls the counts 1 to 1,000': 'memcached is read before it is written',
  'keeps strange keys apart': keyRules,
  'keeps keys with control characters apart': keyRules,
  'keeps keys of 10 kB apart': 'memcached keys have at most 250 bytes',
}

const memjsExceptions: Exceptions = {
  ...memcachedExceptions,
  'stops at the highest count, and does not fail': wideNumbers,
  'counts big hits exactly': wideNumbers,
}

function findExceptions(kind: ServerAddress['kind'], name: string): Exceptions {
  const isOurs = name === 'portcullis'
  if (kind === 'memcached') return name === 'memjs' ? memjsExceptions : memcachedExceptions
  return {
    ...(kind === 'redis-cluster' && clusterExceptions),
    ...(!isOurs && redisExceptions),
  }
}

const looseness = { countsAfterAnswer: 'memcached is read, and written after the answer' }

const openers: Readonly<Record<ServerAddress['kind'], () => Promise<AsyncDisposable & Server>>> = {
  redis: openRedis,
  'redis-cluster': openRedisCluster,
  memcached: openMemcached,
}
interface Server {
  readonly host: string
  readonly port: number
}

const expiries: readonly Expiry[] = ['each-count', 'unknown-only']

for (const kind of ['redis', 'redis-cluster', 'memcached'] as const) {
  for (const name of contenders[kind]) {
    for (const expiry of kind === 'memcached' ? expiries.slice(0, 1) : expiries) {
      testCounterStore(
        `${kind}, ${name}, TTL ${expiry}`,
        async (t) => {
          const server = await openers[kind]()
          t.after(() => server[Symbol.asyncDispose]())
          return openContender(name, { kind, hosts: [server] }, expiry)
        },
        findExceptions(kind, name),
        kind === 'memcached' ? looseness : {},
      )
    }
  }
}
