// Runs the requirements for counter stores with the stores that use a library, to ensure that all contenders
// do the same work. `npm run bench -- hand-written --contract` runs it, after installing the libraries.

import { openMemcached, openRedis, openRedisCluster } from '@portcullis/test-servers'
import { type ContractPoint, testCounterStore } from '../../test/counters/contract.ts'
import { contenders, type Expiry, openContender, type ServerAddress } from './contenders.ts'

type Exceptions = { readonly [Point in ContractPoint]?: string }

const keyRules = 'memcached keys have no whitespace or control characters'
const wideNumbers = 'memjs writes increments in 32 bits'

/**
 * 2^53 - 1 is read as 2^53, because both compute `10 * number + digit` with the character code of the digit.
 */
const redisExceptions: Exceptions = {
  'counts large numbers of hits exactly':
    'the reply parsers of the libraries are not exact up to 2^53 - 1',
}
const clusterExceptions: Exceptions = {
  'changes no other counter for refused calls among 300 concurrent ones':
    'counters in several slots are checked and changed in two steps',
}

const memcachedExceptions: Exceptions = {
  'returns the counts 1 to 1,000 to 1,000 concurrent calls':
    'memcached is read before it is written',
  'keeps unusual keys separate': keyRules,
  'keeps keys with control characters separate': keyRules,
  'keeps keys of 10 kB separate': 'memcached keys have at most 250 bytes',
}

const memjsExceptions: Exceptions = {
  ...memcachedExceptions,
  'stops at the highest count, and does not fail': wideNumbers,
  'counts large numbers of hits exactly': wideNumbers,
}

function findExceptions(kind: ServerAddress['kind'], name: string): Exceptions {
  const isOurs = name === 'portcullis'
  if (kind === 'memcached') return name === 'memjs' ? memjsExceptions : memcachedExceptions
  return {
    ...(kind === 'redis-cluster' && clusterExceptions),
    ...(!isOurs && redisExceptions),
  }
}

const looseness = { countsAfterAnswer: 'memcached is written to after the response' }

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
