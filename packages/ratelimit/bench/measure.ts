import type { Child } from '@portcullis/bench-kit/child'
import { runLoad } from '@portcullis/bench-kit/load-process'
import {
  type OnProgress,
  type RoundPlan,
  startsServers,
  toRoundOrder,
} from '@portcullis/bench-kit/rounds'
import type { LoadJob, LoadOutcome, Pace } from './load/job.ts'
import { valuesKinds } from './requests.ts'
import type { Contender, Group, Shape } from './scenarios.ts'
import type { Contestant, OpenContestants } from './servers/contestants.ts'

/** The results of one contender in one slice. */
export interface Sample {
  readonly perCpuSecond: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly p999Ms: number
  /** Used cores: CPU time divided by time. */
  readonly serverCores: number
  readonly loadCores: number
  readonly storeCores: number
  readonly errors: number
}

/** Samples of all rounds, in order; position n of every contender is from the same round. */
export interface Series {
  readonly group: Group
  readonly shape: Shape
  readonly contender: Contender
  readonly samples: readonly Sample[]
}

/** A steady load is measured longer, because it makes fewer calls, and the slowest ones matter. */
const secondsOf = (shape: Shape, seconds: number) => (shape.pace === 'open' ? seconds * 3 : seconds)

/**
 * Measures groups of contenders in turns: in every round each of them gets one slice in each shape, in a
 * different order, so that a machine that is busy for a while affects all of them. Ratios are computed
 * within a round.
 */
export async function measure(
  groups: readonly Group[],
  plan: RoundPlan,
  load: Child,
  openContestants: OpenContestants,
  onProgress: OnProgress,
): Promise<readonly Series[]> {
  const total = groups.reduce((sum, group) => sum + secondsOfGroup(group, plan), 0)
  const series: Series[] = []
  let done = 0
  for (const group of groups) {
    const slices = createSlices(load, (seconds, what) => {
      onProgress(done, total, `${group.title}: ${what}`)
      done += seconds
    })
    series.push(...(await measureGroup(group, plan, slices, openContestants)))
  }
  return series
}

function secondsOfGroup({ contenders, shapes }: Group, plan: RoundPlan): number {
  const round = shapes.reduce((sum, shape) => sum + secondsOf(shape, plan.seconds), 0)
  const warmup = shapes.length * plan.warmupSeconds * plan.starts
  return contenders.length * (round * plan.rounds + warmup)
}

type RunSlice = (contestant: Contestant, shape: Shape, seconds: number) => Promise<Sample>

async function measureGroup(
  group: Group,
  plan: RoundPlan,
  runSlice: RunSlice,
  openContestants: OpenContestants,
): Promise<readonly Series[]> {
  const samples = new Map<string, Sample[]>()
  const keyOf = (shape: Shape, { name }: Contender) => `${shape.name} ${name}`
  let contestants: readonly Contestant[] = []
  let measured: readonly Contender[] = []
  try {
    for (let round = 0; round < plan.rounds; round++) {
      if (startsServers(round, plan)) {
        for (const one of contestants) await one[Symbol.asyncDispose]()
        contestants = await openContestants(group)
        measured = contestants.map(({ contender }) => contender)
        for (const shape of group.shapes) {
          for (const one of contestants) await runSlice(one, toWarmup(shape), plan.warmupSeconds)
        }
      }
      for (const shape of group.shapes) {
        for (const one of toRoundOrder(contestants, round)) {
          const sample = await runSlice(one, shape, secondsOf(shape, plan.seconds))
          const list = samples.get(keyOf(shape, one.contender)) ?? []
          list.push(sample)
          samples.set(keyOf(shape, one.contender), list)
        }
      }
    }
  } finally {
    for (const one of contestants) await one[Symbol.asyncDispose]()
  }
  return group.shapes.flatMap((shape) =>
    measured.map((contender) => ({
      group,
      shape,
      contender,
      samples: samples.get(keyOf(shape, contender)) ?? [],
    })),
  )
}

/** Compilers react to the number of calls, which a steady load takes long to reach. */
const toWarmup = (shape: Shape): Shape =>
  shape.pace === 'open' ? { ...shape, pace: 'closed', intensity: 64 } : shape

function createSlices(load: Child, announce: (seconds: number, what: string) => void): RunSlice {
  let firstUnique = 0
  return async (contestant, shape, seconds) => {
    announce(seconds, `${shape.title}, ${contestant.contender.label}`)
    firstUnique += uniquePerSlice
    const job = toJob(contestant, shape, seconds, firstUnique)
    const sample = await measureSlice(load, contestant, job)
    if (valuesKinds[job.requests.values].isUnique) await contestant.emptyStore()
    return sample
  }
}

/** More than a slice can use; ten digits are enough for a thousand slices. */
const uniquePerSlice = 10_000_000

function toJob(
  { contender, target }: Contestant,
  shape: Shape,
  seconds: number,
  firstUnique: number,
): LoadJob {
  const pace: Pace =
    shape.pace === 'open'
      ? { kind: 'open', perSecond: shape.intensity, seconds }
      : { kind: 'closed', streams: shape.intensity, seconds }
  return {
    target,
    requests: {
      values: contender.values ?? shape.values,
      descriptors: shape.descriptors,
      rules: contender.rules,
    },
    hasChangingHeaders: shape.hasChangingHeaders,
    firstUnique,
    connections: shape.connections,
    pace,
  }
}

async function measureSlice(
  load: Child,
  { pid, storePids }: Contestant,
  job: LoadJob,
): Promise<Sample> {
  const { outcome, cpuSeconds } = await runLoad<LoadOutcome>(load, job, [pid, ...storePids])
  const [serverSeconds = 0, ...storeSeconds] = cpuSeconds
  return toSample(outcome, {
    serverSeconds,
    storeSeconds: storeSeconds.reduce((sum, one) => sum + one, 0),
  })
}

export function toSample(
  { calls, errors, seconds, loadCpuSeconds, p50Ms, p99Ms, p999Ms }: LoadOutcome,
  { serverSeconds, storeSeconds }: { serverSeconds: number; storeSeconds: number },
): Sample {
  return {
    perCpuSecond: calls / serverSeconds,
    perSecond: calls / seconds,
    p50Ms,
    p99Ms,
    p999Ms,
    serverCores: serverSeconds / seconds,
    loadCores: loadCpuSeconds / seconds,
    storeCores: storeSeconds / seconds,
    errors,
  }
}
