/*
 * Compares each part of src/hot and src/structures with a simple implementation. It takes about a minute.
 *
 *     node --expose-gc packages/ratelimit/bench/hot.bench.ts
 */
import { once } from 'node:events'
import { MessageChannel } from 'node:worker_threads'
import { CounterTable } from '../src/counters/memory/table.ts'
import { buffersOf, packRules, RuleTable } from '../src/hot/index.ts'
import type { RuleRecord, RuleSet } from '../src/rules/model/rule.ts'
import { matchesWildcard, toWildcard } from '../src/rules/model/wildcard.ts'
import { LargeMap } from '../src/structures/large-map.ts'

function createRules(count: number): RuleSet {
  const rule = (parent: number, key: string, value: string): RuleRecord => ({
    parent,
    domain: 'api',
    key,
    value,
    limit: {
      requestsPerUnit: 100,
      unit: 'MINUTE',
      unitMultiplier: 1,
      algorithm: 'fixed_window',
      unlimited: false,
      name: '',
      replaces: [],
    },
    shadowMode: false,
    quotaMode: false,
    detailedMetric: false,
    valueToMetric: false,
    shareThreshold: false,
    metadata: undefined,
    place: { file: 'rules.yaml', line: 1, column: 1 },
  })
  const rules: RuleRecord[] = []
  for (let i = 0; rules.length < count; i += 1) {
    rules.push(rule(-1, 'path', `/path/${i}`), rule(rules.length, 'user', ''))
  }
  return { domains: ['api'], rules }
}

/** Measures CPU time, because the machine may be busy. */
function toNanoseconds(times: number, run: (i: number) => void): number {
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < 5; round += 1) {
    const start = process.cpuUsage()
    for (let i = 0; i < times; i += 1) run(i)
    const { user, system } = process.cpuUsage(start)
    best = Math.min(best, ((user + system) * 1000) / times)
  }
  return best
}

/** Measures the time of the main thread to receive a message from another thread. */
async function receive(message: unknown, transferred: ArrayBuffer[]): Promise<number> {
  const { port1, port2 } = new MessageChannel()
  port1.postMessage(message, transferred)
  const received = once(port2, 'message')
  const start = process.cpuUsage()
  await received
  const { user, system } = process.cpuUsage(start)
  port1.close()
  return (user + system) / 1000
}

function measureHeap<Value>(create: () => Value): { value: Value; mebibytes: number } {
  globalThis.gc?.()
  const before = process.memoryUsage().heapUsed
  const value = create()
  globalThis.gc?.()
  return { value, mebibytes: (process.memoryUsage().heapUsed - before) / 2 ** 20 }
}

interface TreeNode {
  readonly record: RuleRecord
  readonly children: Map<string, TreeNode>
}

function toTree(set: RuleSet): Map<string, TreeNode> {
  const top = new Map<string, TreeNode>()
  const nodes: TreeNode[] = []
  for (const record of set.rules) {
    const node = { record, children: new Map<string, TreeNode>() }
    nodes.push(node)
    const siblings = nodes[record.parent]?.children ?? top
    siblings.set(`${record.key}\0${record.value}`, node)
  }
  return top
}

const ruleCount = 100_000
const { value: rules, mebibytes } = measureHeap(() => createRules(ruleCount))
const packed = packRules(rules)
const bytes = buffersOf(packed).reduce((sum, { byteLength }) => sum + byteLength, 0)
console.log(
  `${ruleCount} rules: ${mebibytes.toFixed(0)} MiB of objects, ${(bytes / 2 ** 20).toFixed(0)} MiB packed`,
)
const copied = await receive(rules, [])
const cloned = await receive(packRules(rules), [])
const transferable = packRules(rules)
const transferred = await receive(transferable, buffersOf(transferable))
console.log(
  `taking them from another thread: ${copied.toFixed(1)} ms as objects, ` +
    `${cloned.toFixed(1)} ms as buffers that are copied, ${transferred.toFixed(2)} ms handed over`,
)

const tree = toTree(rules)
const table = new RuleTable(packed)
const top = table.findDomain('api')
const calls = 2 ** 17
const order = Int32Array.from({ length: calls }, () => Math.floor((Math.random() * ruleCount) / 2))
const requests = Array.from(order, (n) => [
  { key: 'path', value: `/path/${n}` },
  { key: 'user', value: `user-${n}` },
])
let found = 0
const inTree = toNanoseconds(calls, (i) => {
  const [path, user] = requests[i] ?? []
  const level = tree.get(`${path?.key}\0${path?.value}`)?.children
  const node = level?.get(`${user?.key}\0${user?.value}`) ?? level?.get(`${user?.key}\0`)
  found += node?.record.limit?.requestsPerUnit ?? 0
})
const inTable = toNanoseconds(calls, (i) => {
  found += table.find(top, requests[i] ?? [])
})
console.log(
  `matching: ${inTree.toFixed(0)} ns in nested maps, ${inTable.toFixed(0)} ns packed${found === 0 ? ' of nothing' : ''}`,
)

const patterns = Array.from({ length: 5_000 }, (_, i) => `tenant-${i}/*`)
const tenants = packRules({
  domains: ['api'],
  rules: createRules(2)
    .rules.slice(0, 1)
    .flatMap((rule) => patterns.map((value) => ({ ...rule, key: 'tenant', value }))),
})
const tenantTable = new RuleTable(tenants)
const tenantTop = tenantTable.findDomain('api')
const wildcards = patterns.map(toWildcard)
const asked = Array.from({ length: 1_000 }, (_, i) => `tenant-${(i * 7_919) % 5_000}/x`)
const oneByOne = toNanoseconds(asked.length, (i) => {
  found += wildcards.findIndex((pattern) => matchesWildcard(pattern, asked[i] ?? ''))
})
const byPrefix = toNanoseconds(asked.length, (i) => {
  found += tenantTable.find(tenantTop, [{ key: 'tenant', value: asked[i] ?? '' }])
})
console.log(
  `5,000 patterns: ${oneByOne.toFixed(0)} ns one by one, ${byPrefix.toFixed(0)} ns by prefix`,
)

const counters = 1_000_000
const keys = Array.from({ length: counters }, (_, i) => `domain_remote_address_${i}_path_index_`)

/** CPU time of this thread in a full garbage collection, without the helper threads of V8. */
function collect(): number {
  const start = process.threadCpuUsage()
  globalThis.gc?.()
  const { user, system } = process.threadCpuUsage(start)
  return (user + system) / 1000
}

const keysPerStep = 100

/** Measures CPU time of this thread, because on a busy machine pauses are caused by other processes. */
function longest(name: string, create: () => (key: string) => void): void {
  let best = Number.POSITIVE_INFINITY
  let total = Number.POSITIVE_INFINITY
  for (let round = 0; round < 3; round += 1) {
    const add = create()
    let [most, sum] = [0, 0]
    for (let from = 0; from < counters; from += keysPerStep) {
      const start = process.threadCpuUsage()
      for (let i = from; i < from + keysPerStep; i += 1) add(keys[i] ?? '')
      const { user, system } = process.threadCpuUsage(start)
      most = Math.max(most, user + system)
      sum += user + system
    }
    best = Math.min(best, most)
    total = Math.min(total, sum)
  }
  console.log(
    `${name}: ${((total * 1000) / counters).toFixed(0)} ns per key, ` +
      `the slowest ${keysPerStep} took ${(best / 1000).toFixed(1)} ms`,
  )
}

let map = new Map<string, { count: number }>()
longest('1,000,000 keys in a Map', () => {
  map = new Map()
  return (key) => map.set(key, { count: 1 })
})
globalThis.gc?.()
const heapFull = process.memoryUsage().heapUsed
const gcWithMap = collect()
map.clear()
globalThis.gc?.()
const gcWithNeither = collect()
const heap = (heapFull - process.memoryUsage().heapUsed) / counters
longest('1,000,000 keys in a large map', () => {
  const large = new LargeMap<{ count: number }>()
  return (key) => large.add(key, { count: 1 })
})
const settings = { nowSeconds: () => 0, maxBytes: 2 ** 31, evicts: false }
let pages = new CounterTable(settings)
longest('1,000,000 keys in pages', () => {
  pages = new CounterTable(settings)
  return (key) => pages.add(key, 0, 60, 1)
})
console.log(
  `a full garbage collection: ${gcWithNeither.toFixed(0)} ms without the counters, ` +
    `${gcWithMap.toFixed(0)} ms with the Map, ${collect().toFixed(0)} ms with the pages`,
)
console.log(
  `bytes per counter: ${heap.toFixed(0)} in a Map without the keys, ` +
    `${(pages.bytes / counters).toFixed(0)} in pages with the keys`,
)
