import { join } from 'node:path'
import { createResultWriter, describeMachine } from '@portcullis/bench-kit/results'
import { best, median, medianRatio, round } from '@portcullis/bench-kit/statistics'
import { type ContenderName, contenders } from './contenders.ts'
import { type HandlerName, handlers } from './handler-process.ts'
import { versionOf } from './installs.ts'
import type { Plan, Sample, Samples } from './measure.ts'
import type { HandlerSamples } from './measure-handlers.ts'
import { type GraphqlMajor, graphqlPackages } from './one-graphql.ts'
import type { QueryName } from './queries.ts'

/** Medians over all rounds, and ratios to other contenders. */
export interface Score {
  readonly perCpuSecond: number
  /** The same value over the best tenth of the rounds. */
  readonly best: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** The ratio to the requests per CPU-second of graphql-http; null if it was not measured. */
  readonly timesGraphqlHttp: number | null
  readonly timesLimit: number | null
}

export interface HandlerScore {
  readonly perCpuSecond: number
  readonly best: number
  readonly timesGraphqlHttp: number
}

export interface ContenderResult {
  readonly name: ContenderName
  readonly label: string
  readonly version: string | null
  readonly scores: Partial<Record<QueryName, Score>>
}

export interface HandlerResult {
  readonly name: HandlerName
  readonly label: string
  readonly scores: Partial<Record<QueryName, HandlerScore>>
}

export function toContenderResults(samples: Samples, names: readonly QueryName[]) {
  return [...samples].map(([name, slices]): ContenderResult => {
    const { label, home, package: packageName } = contenders[name]
    const scores: Partial<Record<QueryName, Score>> = {}
    for (const query of names) {
      const against = (other: ContenderName) => {
        const others = samples.get(other)?.[query]
        return others ? round(medianRatio(rates(slices[query]), rates(others)), 3) : null
      }
      scores[query] = {
        perCpuSecond: Math.round(median(rates(slices[query]))),
        best: Math.round(best(rates(slices[query]))),
        perSecond: Math.round(median(slices[query].map(({ perSecond }) => perSecond))),
        p50Ms: round(median(slices[query].map(({ p50Ms }) => p50Ms)), 2),
        p99Ms: round(median(slices[query].map(({ p99Ms }) => p99Ms)), 2),
        timesGraphqlHttp: against('graphql-http'),
        timesLimit: against('limit'),
      }
    }
    const version = packageName === undefined ? null : versionOf(packageName, home)
    return { name, label, version, scores }
  })
}

export function toHandlerResults(samples: HandlerSamples, names: readonly QueryName[]) {
  return [...samples].map(([name, rounds]): HandlerResult => {
    const scores: Partial<Record<QueryName, HandlerScore>> = {}
    for (const query of names) {
      scores[query] = {
        perCpuSecond: Math.round(median(rounds[query])),
        best: Math.round(best(rounds[query])),
        timesGraphqlHttp: round(
          medianRatio(rounds[query], samples.get('graphql-http')?.[query] ?? []),
          3,
        ),
      }
    }
    return { name, label: handlers[name].label, scores }
  })
}

const rates = (slices: readonly Sample[]) => slices.map(({ perCpuSecond }) => perCpuSecond)

/** The machine and the versions with which it was measured. */
export function describeSetting(graphql: GraphqlMajor) {
  return { ...describeMachine(), graphql: versionOf(graphqlPackages[graphql], 'root') }
}

export const describePlan = ({ connections, rounds, starts, seconds, warmupSeconds }: Plan) => ({
  connections,
  rounds,
  starts,
  seconds,
  warmupSeconds,
})

export const writeResult = createResultWriter(join(import.meta.dirname, 'results'))
