import { startChild } from '@portcullis/bench-kit/child'
import { readCpuTimes, toCpuSeconds } from '@portcullis/bench-kit/process-usage'
import { toRoundOrder } from '@portcullis/bench-kit/rounds'
import { median, medianRatio } from '@portcullis/bench-kit/statistics'
import { formatCount, formatRatio, formatTable, left, right } from '@portcullis/bench-kit/table'
import { openMemcached, openRedis, openRedisCluster } from '@portcullis/test-servers'
import { findListener } from '../servers/find-listener.ts'
import { contenders, type Expiry, type ServerAddress } from './contenders.ts'
import type { StoreJob, StoreOutcome } from './store-process.ts'

export interface Plan {
  readonly rounds: number
  /** The number of decisions with one counter in a round; with more counters there are fewer. */
  readonly decisions: number
}

const descriptorCounts = [1, 3, 10] as const

/** Compares the stores with the same work by client libraries, in decisions per CPU-second. */
export async function measureStores(kind: ServerAddress['kind'], plan: Plan): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const hosts = await openHosts(kind, stack)
  const pids = await Promise.all(hosts.map(({ port }) => findListener(port)))
  const address = { kind, hosts: hosts.map(({ host, port }) => ({ host, port })) }
  const expiries: readonly Expiry[] =
    kind === 'memcached' ? ['each-count'] : ['each-count', 'unknown-only']
  for (const expiry of expiries) {
    for (const descriptors of descriptorCounts) {
      const decisions = Math.round(plan.decisions / descriptors ** 0.75)
      const job = { address, expiry, descriptors, decisions }
      const readings = await measure(job, plan.rounds, pids)
      report(`${toTitle(kind, expiry)}, ${descriptors} per decision`, decisions, readings)
    }
  }
}

function toTitle(kind: ServerAddress['kind'], expiry: Expiry): string {
  if (kind === 'memcached') return 'memcached: get, then incr'
  return `${kind}: ${expiry === 'each-count' ? 'INCRBY and EXPIRE' : 'INCRBY of known counters'}`
}

async function openHosts(kind: ServerAddress['kind'], stack: AsyncDisposableStack) {
  if (kind === 'redis') return [stack.use(await openRedis())]
  if (kind === 'memcached') return [stack.use(await openMemcached())]
  return stack.use(await openRedisCluster()).nodes
}

interface Readings {
  readonly client: number[]
  readonly server: number[]
  readonly wall: number[]
}

async function measure(
  job: Omit<StoreJob, 'contender'>,
  rounds: number,
  pids: readonly (number | undefined)[],
): Promise<ReadonlyMap<string, Readings>> {
  const names = contenders[job.address.kind]
  using children = new DisposableStack()
  const processes = names.map((contender) => ({
    contender,
    child: children.use(startChild(new URL('./store-process.ts', import.meta.url))),
    readings: { client: [], server: [], wall: [] } as Readings,
  }))
  // Opens the store and compiles the code.
  for (const { contender, child } of processes) await child.request({ ...job, contender })
  for (let round = 0; round < rounds; round++) {
    for (const { contender, child, readings } of toRoundOrder(processes, round)) {
      const before = await readServers(pids)
      const outcome = await child.request<StoreOutcome>({ ...job, contender })
      const after = await readServers(pids)
      readings.client.push(outcome.cpuSeconds)
      readings.wall.push(outcome.wallSeconds)
      readings.server.push(sum(after.map((times, at) => toCpuSeconds(before[at] ?? times, times))))
    }
  }
  return new Map(processes.map(({ contender, readings }) => [contender, readings]))
}

function readServers(pids: readonly (number | undefined)[]) {
  return Promise.all(pids.flatMap((pid) => (pid === undefined ? [] : [readCpuTimes(pid)])))
}

function report(title: string, decisions: number, readings: ReadonlyMap<string, Readings>): void {
  const [ours] = readings.values()
  const rows = [...readings].map(([name, { client, server, wall }]) => {
    const microseconds = (seconds: readonly number[]) =>
      ((median(seconds) / decisions) * 1e6).toFixed(1)
    return [
      name,
      formatCount(decisions / median(client)),
      microseconds(client),
      ours ? formatRatio(medianRatio(client, ours.client)) : '',
      microseconds(server),
      formatCount(decisions / median(wall)),
    ]
  })
  const columns = [
    left('store'),
    right('decisions per CPU-second'),
    right('µs'),
    right('portcullis is better by'),
    right('server µs'),
    right('decisions/s'),
  ]
  console.log(`\n${title}\n${formatTable(columns, rows)}`)
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
