import { isDeepStrictEqual } from 'node:util'
import { type Child, startChild } from '@portcullis/bench-kit/child'
import {
  type OnProgress,
  type RoundPlan,
  startsServers,
  toRoundOrder,
} from '@portcullis/bench-kit/rounds'
import type { ContenderName } from './contenders.ts'
import type { GraphqlMajor } from './one-graphql.ts'
import { type QueryName, queries, toRequestBody } from './queries.ts'
import { type ServerProcess, startServer } from './server-process.ts'
import type { SliceJob, SliceOutcome } from './slice.ts'

export interface Plan extends RoundPlan {
  readonly contenders: readonly ContenderName[]
  readonly queries: readonly QueryName[]
  readonly graphql: GraphqlMajor
  readonly connections: number
}

/** The measurement of one contender in one slice. */
export interface Sample {
  readonly perCpuSecond: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
}

/** Samples of all rounds, in order; position n of every contender is from the same round. */
export type Samples = ReadonlyMap<ContenderName, Readonly<Record<QueryName, readonly Sample[]>>>

/**
 * Measures all contenders side by side. Every round gives each contender one slice per query, in a
 * different order each time, so that temporary load on the machine does not favour any contender.
 * Many short slices give better results than few long ones: on shared hardware the speed of a CPU
 * changes by half from one second to the next, and ratios are taken within a round. The processes
 * are restarted several times, since identical processes differ by some percent for as long as they
 * live.
 */
export async function measure(plan: Plan, onProgress: OnProgress): Promise<Samples> {
  const samples = new Map(
    plan.contenders.map((name) => [name, { hello: [] as Sample[], list: [] as Sample[] }]),
  )
  using load = startChild(new URL('./load.ts', import.meta.url), { replyTimeoutSeconds: 60 })
  const slices = plan.contenders.length * plan.queries.length
  const total = slices * (plan.starts * plan.warmupSeconds + plan.rounds * plan.seconds)
  let done = 0
  const runSlice = async (server: ServerProcess, query: QueryName, seconds: number) => {
    onProgress(done, total, `${query}: ${server.name}`)
    done += seconds
    return await measureSlice(load, server, query, { ...plan, seconds })
  }

  let servers: readonly ServerProcess[] = []
  try {
    for (let round = 0; round < plan.rounds; round++) {
      if (startsServers(round, plan)) {
        for (const server of servers) server[Symbol.dispose]()
        servers = await startServers(plan)
        for (const query of plan.queries) {
          for (const server of servers) await runSlice(server, query, plan.warmupSeconds)
        }
      }
      for (const query of plan.queries) {
        for (const server of toRoundOrder(servers, round)) {
          samples.get(server.name)?.[query].push(await runSlice(server, query, plan.seconds))
        }
      }
    }
    return samples
  } finally {
    for (const server of servers) server[Symbol.dispose]()
  }
}

/** If one contender does not start, the others are stopped. */
async function startServers(plan: Plan): Promise<readonly ServerProcess[]> {
  const servers: ServerProcess[] = []
  try {
    for (const name of plan.contenders) {
      const server = await startServer(name, plan.graphql)
      servers.push(server)
      for (const query of plan.queries) await checkAnswer(server, query)
    }
    return servers
  } catch (error) {
    for (const server of servers) server[Symbol.dispose]()
    throw error
  }
}

async function measureSlice(
  load: Child,
  server: ServerProcess,
  query: QueryName,
  { connections, seconds }: Pick<Plan, 'connections' | 'seconds'>,
): Promise<Sample> {
  const job: SliceJob = {
    port: server.port,
    body: toRequestBody(query),
    connections,
    seconds,
  }
  const before = await server.readUsage()
  const outcome = await load.request<SliceOutcome>(job)
  const after = await server.readUsage()
  return {
    perCpuSecond: outcome.requests / (after.cpuSeconds - before.cpuSeconds),
    perSecond: outcome.requests / outcome.seconds,
    p50Ms: outcome.p50Ms,
    p99Ms: outcome.p99Ms,
  }
}

/** Checks the response, since a contender with wrong responses may be fast for that reason. */
async function checkAnswer({ name, port }: ServerProcess, query: QueryName): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: toRequestBody(query),
  })
  const text = await response.text()
  if (!isDeepStrictEqual(JSON.parse(text), { data: queries[query].data })) {
    throw new Error(`${name} responds incorrectly to the query "${query}": ${text.slice(0, 200)}`)
  }
}
