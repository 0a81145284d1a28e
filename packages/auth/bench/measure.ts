import type { Child } from '@portcullis/bench-kit/child'
import { runLoad } from '@portcullis/bench-kit/load-process'
import type { Case } from './cases.ts'
import type { BcryptOutcome } from './load/bcrypt.ts'
import type { LoadJob, LoadOutcome } from './load/job.ts'
import type { Contestant, ContestantName, Member } from './servers/contestants.ts'
import { createServiceToken } from './servers/contestants.ts'

export interface Plan {
  readonly rounds: number
  readonly seconds: number
  readonly warmupSeconds: number
}

/** The result of one server in one slice. */
export interface Sample {
  readonly calls: number
  readonly perSecond: number
  readonly perCpuSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** CPU time of PostgreSQL per request. */
  readonly databaseMicroseconds: number
  readonly serverCores: number
  readonly loadCores: number
  readonly probeP99Ms: number | undefined
  readonly errors: number
  readonly firstError: string | undefined
}

/** Samples of all rounds in order; position n of every server is from the same round. */
export interface Series {
  readonly case: Case
  readonly contestant: ContestantName
  readonly label: string
  readonly samples: readonly Sample[]
}

/** A server with the credentials for its requests. */
export interface PreparedServer {
  readonly contestant: Contestant
  readonly members: readonly Member[]
  /** How many users were added to the database so far. */
  users: number
  /** The current refresh tokens of the sessions. */
  refreshTokens: readonly string[]
  stormTokens: readonly string[]
}

export interface Tools {
  readonly load: Child
  readonly bcrypt: Child
  announce(seconds: number, what: string): void
}

const serviceToken = createServiceToken()

const credentialsOf: Readonly<
  Record<Case['script'], (prepared: PreparedServer) => readonly string[]>
> = {
  user: ({ members }) => members.map(({ accessToken }) => accessToken),
  refresh: ({ refreshTokens }) => refreshTokens,
  storm: ({ stormTokens }) => stormTokens,
  login: ({ members }) => members.map(({ email }) => email),
  signup: () => [],
  list: () => [serviceToken],
}

/** More addresses than any slice needs, so that no address is signed up twice. */
const uniquePerSlice = 100_000
let firstUnique = 0

/** Runs one slice of a case on a server. */
export async function runSlice(
  prepared: PreparedServer,
  one: Case,
  seconds: number,
  { load, announce }: Tools,
): Promise<Sample> {
  const { contestant, members } = prepared
  announce(seconds, `${one.title}, ${contestant.label}`)
  firstUnique += uniquePerSlice
  const [member] = members
  const job: LoadJob = {
    target: contestant.target,
    script: one.script,
    connections: one.connections * (one.isPerWorker ? contestant.workers : 1),
    seconds,
    credentials: credentialsOf[one.script](prepared),
    firstUnique,
    ...(one.path !== undefined && { path: one.path }),
    ...(one.probesPerSecond !== undefined &&
      member && { probe: { perSecond: one.probesPerSecond, accessToken: member.accessToken } }),
  }
  const pids = [contestant.pid, contestant.databasePid]
  const { outcome, cpuSeconds } = await runLoad<LoadOutcome>(load, job, pids)
  if (one.script === 'refresh') prepared.refreshTokens = outcome.credentials
  if (one.script === 'storm') prepared.stormTokens = outcome.credentials
  const [serverSeconds = 0, databaseSeconds = 0] = cpuSeconds
  return toSample(outcome, { serverSeconds, databaseSeconds })
}

export function toSample(
  outcome: LoadOutcome,
  used: { readonly serverSeconds: number; readonly databaseSeconds: number },
): Sample {
  const { calls, seconds, loadCpuSeconds, credentials: _, ...rest } = outcome
  return {
    ...rest,
    calls,
    perSecond: calls / seconds,
    perCpuSecond: calls / used.serverSeconds,
    databaseMicroseconds: (used.databaseSeconds * 1e6) / calls,
    serverCores: used.serverSeconds / seconds,
    loadCores: loadCpuSeconds / seconds,
  }
}

export interface CaseResult {
  readonly series: readonly Series[]
  /** By round; empty if the case is not compared with bcrypt. */
  readonly bcrypt: readonly BcryptSample[]
}

/** Password checks without a server. */
export type BcryptSample = Pick<Sample, 'perSecond' | 'perCpuSecond'>

/**
 * Measures servers side by side. Every round runs one slice on each server, in alternating order,
 * so that a temporarily busy machine affects all of them equally.
 */
export async function measureCase(
  one: Case,
  all: readonly PreparedServer[],
  plan: Plan,
  tools: Tools,
): Promise<CaseResult> {
  const preparedServers = selectServers(one, all)
  const seconds = plan.seconds * one.longer
  const samples = new Map<PreparedServer, Sample[]>(
    preparedServers.map((prepared) => [prepared, []]),
  )
  const bcrypt: BcryptSample[] = []
  for (const prepared of preparedServers) await warmUp(prepared, one, plan, tools)
  for (let round = 0; round < plan.rounds; round++) {
    for (const prepared of round % 2 === 0 ? preparedServers : preparedServers.toReversed()) {
      samples.get(prepared)?.push(await runSlice(prepared, one, seconds, tools))
    }
    if (one.comparesBcrypt) {
      tools.announce(seconds, 'bcrypt without a server')
      const { checks, ...used } = await tools.bcrypt.request<BcryptOutcome>(seconds)
      bcrypt.push({ perSecond: checks / used.seconds, perCpuSecond: checks / used.cpuSeconds })
    }
  }
  const series = preparedServers.map((prepared) => ({
    case: one,
    contestant: prepared.contestant.name,
    label: prepared.contestant.label,
    samples: samples.get(prepared) ?? [],
  }))
  return { series, bcrypt }
}

/** In the first thousands of requests of a process, its JavaScript is still being compiled. */
const warmupRequests = 5_000
/** A busy machine takes longer for them, but not forever. */
const mostWarmups = 10

async function warmUp(prepared: PreparedServer, one: Case, plan: Plan, tools: Tools) {
  const seconds = warmupSecondsOf(prepared, plan)
  const wanted = warmupRequests * prepared.contestant.workers
  let { calls } = await runSlice(prepared, one, seconds, tools)
  // Where passwords are hashed, hardly any time is spent in JavaScript.
  if (one.longer > 1) return
  for (let count = 1; count < mostWarmups && calls < wanted; count++) {
    calls += (await runSlice(prepared, one, seconds, tools)).calls
  }
}

/** Every worker has to compile the code for itself, and gets only its share of the requests. */
function warmupSecondsOf({ contestant }: PreparedServer, { warmupSeconds }: Plan): number {
  return warmupSeconds * contestant.workers
}

/** The servers that take part in a case. */
export function selectServers(
  { isOursOnly = false, comparesWorkers = false }: Case,
  all: readonly PreparedServer[],
): readonly PreparedServer[] {
  const takesPart = { ours: true, workers: comparesWorkers, peer: !isOursOnly }
  return all.filter(({ contestant }) => takesPart[contestant.name])
}

export function secondsOfCase(one: Case, all: readonly PreparedServer[], plan: Plan): number {
  const servers = selectServers(one, all)
  const slices = servers.length + (one.comparesBcrypt ? 1 : 0)
  const warmup = servers.reduce((sum, prepared) => sum + warmupSecondsOf(prepared, plan), 0)
  return plan.rounds * plan.seconds * one.longer * slices + warmup
}
