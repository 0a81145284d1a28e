import type { Pace } from './load/job.ts'
import type { Values } from './requests.ts'

/** A server configuration that is measured. */
export interface Contender {
  readonly name: string
  readonly label: string
  readonly program: 'ours' | 'peer'
  readonly store: StoreName
  readonly hasLocalCache: boolean
  readonly rules: number
  /** Overrides the values of the shape. */
  readonly values?: Values
  /** The contender to compare with. */
  readonly comparedWith?: string
}

export type StoreName = 'memory' | 'redis' | 'cluster'

/** The kind of load. */
export interface Shape {
  readonly name: string
  readonly title: string
  readonly connections: number
  readonly pace: Pace['kind'] & ('closed' | 'open')
  /** Concurrent calls on each connection, or calls per second. */
  readonly intensity: number
  readonly descriptors: number
  readonly values: Values
  readonly hasChangingHeaders: boolean
}

/** Contenders that are measured in turns, in every shape. */
export interface Group {
  readonly name: string
  readonly title: string
  readonly contenders: readonly Contender[]
  readonly shapes: readonly Shape[]
}

export const defaultRuleCount = 1000

const stores = {
  memory: { label: 'memory', store: 'memory', hasLocalCache: false },
  redis: { label: 'Redis', store: 'redis', hasLocalCache: false },
  cluster: { label: 'Redis Cluster', store: 'cluster', hasLocalCache: false },
  'local-cache': { label: 'local cache hit', store: 'redis', hasLocalCache: true },
} as const

type StoreCase = keyof typeof stores

function ours(storeCase: StoreCase, rules = defaultRuleCount): Contender {
  // The peer has no store in memory, so the memory store is compared with the peer's Redis.
  const comparedWith = `peer-${storeCase === 'memory' ? 'redis' : storeCase}${toSuffix(rules)}`
  return {
    name: `${storeCase}${toSuffix(rules)}`,
    program: 'ours',
    rules,
    comparedWith,
    ...toCase('portcullis', storeCase, rules),
  }
}

function peer(storeCase: Exclude<StoreCase, 'memory'>, rules = defaultRuleCount): Contender {
  return {
    name: `peer-${storeCase}${toSuffix(rules)}`,
    program: 'peer',
    rules,
    ...toCase('envoyproxy/ratelimit', storeCase, rules),
  }
}

function toCase(program: string, storeCase: StoreCase, rules: number) {
  const { label, ...rest } = stores[storeCase]
  const suffix = rules === defaultRuleCount ? '' : `, ${rules.toLocaleString('en-US')} rules`
  return {
    ...rest,
    label: `${program}, ${label}${suffix}`,
    ...(rest.hasLocalCache && { values: 'exhausted' as const }),
  }
}

const toSuffix = (rules: number) => (rules === defaultRuleCount ? '' : `@${rules}`)

const usualShape = {
  connections: 8,
  pace: 'closed',
  intensity: 64,
  descriptors: 1,
  values: 'many',
  hasChangingHeaders: false,
} as const

const shape = (name: string, title: string, changes: Partial<Shape> = {}): Shape => ({
  ...usualShape,
  ...changes,
  name,
  title,
})

const threeContenders = [ours('memory'), ours('redis'), peer('redis')]
const ruleCounts = [10, defaultRuleCount, 100_000]

export const groups: readonly Group[] = [
  {
    name: 'stores',
    title: 'Stores',
    contenders: [
      ours('memory'),
      ours('redis'),
      ours('cluster'),
      ours('local-cache'),
      peer('redis'),
      peer('cluster'),
      peer('local-cache'),
    ],
    shapes: [
      shape('8x64', '8 connections × 64 streams'),
      shape('1x100', '1 connection × 100 streams', { connections: 1, intensity: 100 }),
    ],
  },
  {
    name: 'calls',
    title: 'Kinds of calls',
    contenders: threeContenders,
    shapes: [
      shape('3-descriptors', '3 descriptors', { descriptors: 3 }),
      shape('10-descriptors', '10 descriptors', { descriptors: 10 }),
      shape('few', '100 requests that repeat', { values: 'few' }),
      shape('unique', 'every value is new', { values: 'unique' }),
      shape('changing-headers', 'headers change from call to call', { hasChangingHeaders: true }),
    ],
  },
  {
    name: 'rules',
    title: 'Number of rules',
    contenders: ruleCounts.flatMap((count) => [
      ours('memory', count),
      ours('redis', count),
      peer('redis', count),
    ]),
    shapes: [shape('rules', '8 connections × 64 streams')],
  },
  {
    name: 'steady',
    title: 'Steady load',
    contenders: threeContenders,
    shapes: [shape('5000/s', '5,000 calls a second', { pace: 'open', intensity: 5000 })],
  },
]

export const groupNames = groups.map(({ name }) => name)
