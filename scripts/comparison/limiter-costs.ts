import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Child, startChild } from '@portcullis/bench-kit/child'
import { median, medianRatio } from '@portcullis/bench-kit/statistics'
import { fieldOf, redisCommand } from '../../packages/test-servers/src/redis-command.ts'
import { toMarkdownTable, toMicroseconds, toRatioCell } from './page.ts'
import type { Run } from './run.ts'
import { measureRequests, startServer } from './servers.ts'
import { measureInTurn } from './turns.ts'
import type { Installed } from './workspace.ts'

/** One way to get a decision from a library. */
interface Decider {
  readonly name: string
  readonly id: string
  readonly call: string
}

/** The others are compared with the first one. */
const inMemory: readonly Decider[] = [
  { name: '@portcullis/limiter, `limit`', id: 'portcullis', call: 'memory' },
  { name: '@portcullis/limiter, `limitSync`', id: 'portcullis', call: 'memorySync' },
  { name: 'express-rate-limit, its store', id: 'express-rate-limit', call: 'memory' },
  { name: '@fastify/rate-limit, `createRateLimit`', id: 'fastify-rate-limit', call: 'memory' },
  { name: 'rate-limiter-flexible', id: 'rate-limiter-flexible', call: 'memory' },
]

const inRedis: readonly Decider[] = [
  { name: '@portcullis/limiter', id: 'portcullis', call: 'redis' },
  { name: 'express-rate-limit, rate-limit-redis', id: 'express-rate-limit', call: 'redis' },
  { name: '@fastify/rate-limit', id: 'fastify-rate-limit', call: 'redis' },
  { name: 'rate-limiter-flexible', id: 'rate-limiter-flexible', call: 'redis' },
  { name: '@upstash/ratelimit, over HTTP', id: 'upstash', call: 'redis' },
]

/**
 * The same apps with and without a limiter; each app is compared with the first one of its list.
 */
const apps: readonly (readonly Decider[])[] = [
  [
    { name: 'Express without a limiter', id: 'portcullis', call: 'plainExpress' },
    { name: 'Express, @portcullis/limiter', id: 'portcullis', call: 'express' },
    { name: 'Express, express-rate-limit', id: 'express-rate-limit', call: 'express' },
    { name: 'Express, rate-limiter-flexible', id: 'rate-limiter-flexible', call: 'express' },
  ],
  [
    { name: 'Fastify without a limiter', id: 'portcullis', call: 'plainFastify' },
    { name: 'Fastify, @portcullis/limiter', id: 'portcullis', call: 'fastify' },
    { name: 'Fastify, @fastify/rate-limit', id: 'fastify-rate-limit', call: 'fastify' },
  ],
]

/** Decisions with counters in memory: CPU time with few and with many keys, and memory. */
export async function measureDecisions(
  { settings, progress }: Run,
  installed: readonly Installed[],
): Promise<string> {
  const columns: string[][] = []
  for (const keys of [1_000, settings.keys]) {
    using children = new DisposableStack()
    const subjects = []
    for (const decider of inMemory) {
      progress.note(`counting ${keys} keys: ${decider.name}`)
      const child = children.use(startDecider(installed, decider))
      await child.request({ kind: 'prepare', keys })
      await spend(child, settings.calls)
      subjects.push({ name: decider.name, measure: () => spend(child, settings.calls) })
    }
    const costs = await measureInTurn(subjects, settings.rounds)
    columns.push(costs.map(({ ratio, microseconds }) => toRatioCell(ratio, microseconds)))
  }
  const rows: string[][] = []
  for (const [index, decider] of inMemory.entries()) {
    progress.note(`memory of ${settings.keys} keys: ${decider.name}`)
    using child = startDecider(installed, decider)
    const { bytes, rss } = await child.request<{ readonly bytes: number; readonly rss: number }>({
      kind: 'weigh',
      keys: settings.keys,
    })
    const cpu = columns.map((column) => column[index] ?? '')
    rows.push([decider.name, ...cpu, `${bytes.toFixed(0)} B`, `${rss.toFixed(0)} B`])
  }
  const many = settings.keys.toLocaleString('en-US')
  return toMarkdownTable(
    ['', 'CPU, 1,000 keys', `CPU, ${many} keys`, 'memory per key: heap', 'resident'],
    rows,
  )
}

const concurrency = 64

/** Decisions with counters in Redis, many at a time: CPU time of the application and of Redis. */
export async function measureRedis(
  { settings }: Run,
  installed: readonly Installed[],
  env: Readonly<Record<string, string>>,
  port: number,
): Promise<string> {
  // Each takes many times as long as with counters in memory.
  const calls = Math.ceil(settings.calls / 10)
  using children = new DisposableStack()
  const redisTimes = new Map<string, number[]>()
  const subjects = []
  for (const decider of inRedis) {
    const child = children.use(startDecider(installed, decider, env))
    await child.request({ kind: 'prepare', keys: 1_000 })
    await spend(child, calls, concurrency)
    const times: number[] = []
    redisTimes.set(decider.name, times)
    const measure = async () => {
      const before = await readRedisMicroseconds(port)
      const microseconds = await spend(child, calls, concurrency)
      times.push((await readRedisMicroseconds(port)) - before)
      return microseconds
    }
    subjects.push({ name: decider.name, measure })
  }
  const costs = await measureInTurn(subjects, settings.rounds)
  const [ours = []] = redisTimes.values()
  const rows = costs.map(({ name, ratio, microseconds }) => {
    const times = redisTimes.get(name) ?? []
    const ofRedis = toRatioCell(medianRatio(times, ours), median(times) / calls)
    return [name, toRatioCell(ratio, microseconds), ofRedis]
  })
  return toMarkdownTable(['', 'CPU of the application', 'CPU of Redis'], rows)
}

async function readRedisMicroseconds(port: number): Promise<number> {
  const info = await redisCommand({ port, password: undefined }, 'INFO', 'cpu')
  const seconds = ['used_cpu_user', 'used_cpu_sys'].map((name) => Number(fieldOf(info, name)))
  return seconds.reduce((sum, value) => sum + value, 0) * 1e6
}

/** Whole requests to the same app with and without a limiter. */
export async function measureApps(
  { settings }: Run,
  installed: readonly Installed[],
): Promise<string> {
  const rows: string[][] = []
  for (const list of apps) {
    await using servers = new AsyncDisposableStack()
    const subjects = []
    for (const { name, id, call } of list) {
      const args = ['serve.mjs', `limiter/http/${id}.mjs`, call] as const
      const server = servers.use(await startServer(findInstalled(installed, id), args))
      await measureRequests(server, settings.requests)
      subjects.push({ name, measure: () => measureRequests(server, settings.requests) })
    }
    const costs = await measureInTurn(subjects, settings.rounds)
    const plain = costs[0]?.microseconds ?? 0
    for (const [index, { name, ratio, microseconds }] of costs.entries()) {
      const more = index === 0 ? '' : toMicroseconds(microseconds - plain)
      rows.push([name, toRatioCell(ratio, microseconds), more])
    }
  }
  return toMarkdownTable(['', 'CPU per request', 'more than without'], rows)
}

async function spend(child: Child, calls: number, concurrency = 1): Promise<number> {
  const job = { kind: 'spend', calls, concurrency }
  return (await child.request<{ readonly microseconds: number }>(job)).microseconds
}

function startDecider(
  installed: readonly Installed[],
  { id, call }: Decider,
  env: Readonly<Record<string, string>> = {},
): Child {
  const { folder } = findInstalled(installed, id)
  return startChild(pathToFileURL(join(folder, 'measure-decisions.mjs')), {
    args: [`limiter/decide/${id}.mjs`, call],
    execArgv: ['--expose-gc', '--max-old-space-size=4096'],
    env: { ...env, NODE_ENV: 'production' },
  })
}

export function findInstalled(installed: readonly Installed[], id: string): Installed {
  const found = installed.find(({ library }) => library.id === id)
  if (!found) throw new Error(`The library "${id}" is not installed.`)
  return found
}
