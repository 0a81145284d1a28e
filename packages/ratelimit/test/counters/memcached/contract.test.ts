/**
 * @servers memcached
 */
import { open } from '@portcullis/test-servers'
import { type ContractPoint, testCounterStore } from '../contract.ts'
import { openReadyStore } from './support/store.ts'

const keyRules = 'memcached keys have no whitespace or control characters'

/** The documented exceptions for memcached. */
const except: { readonly [Point in ContractPoint]?: string } = {
  'returns the counts 1 to 1,000 to 1,000 concurrent calls':
    'calls that read at the same time get the same counts',
  'keeps unusual keys separate': keyRules,
  'keeps keys with control characters separate': keyRules,
  'keeps keys of 10 kB separate': 'memcached keys have at most 250 bytes',
}

const looseness = { countsAfterAnswer: 'memcached is written to after the response' }

testCounterStore(
  'memcached',
  async (t) => {
    const memcached = await open(t, 'memcached')
    return memcached && openReadyStore(t, { ports: [memcached.port] })
  },
  except,
  looseness,
)

testCounterStore(
  'memcached on three nodes',
  async (t) => {
    const nodes = [
      await open(t, 'memcached'),
      await open(t, 'memcached'),
      await open(t, 'memcached'),
    ]
    const ports = nodes.flatMap((node) => node?.port ?? [])
    if (ports.length < nodes.length) return undefined
    return openReadyStore(t, { ports, expirationJitterMaxSeconds: 0 })
  },
  except,
  looseness,
)
