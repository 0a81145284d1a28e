import {
  evaluateGoals,
  type GoalResult,
  type GoalRow,
  isMeasured,
  toGoal,
} from '@portcullis/bench-kit/goals'
import { median, medianRatio } from '@portcullis/bench-kit/statistics'
import type { Sample, Series } from './measure.ts'
import type { MemoryResult, Pause, PauseName } from './solo.ts'

export interface Measured {
  readonly series: readonly Series[]
  readonly memory: MemoryResult | undefined
  readonly pauses: readonly Pause[]
}

/** Checks the performance goals that were measured. */
export function checkGoals({ series, memory, pauses }: Measured): readonly GoalResult[] {
  const samplesOf = (shape: string, contender: string): readonly Sample[] =>
    series.find((one) => one.shape.name === shape && one.contender.name === contender)?.samples ??
    []
  const compare = (
    value: (sample: Sample) => number,
    shape: string,
    contender: string,
    other: string,
  ) => medianRatio(samplesOf(shape, contender).map(value), samplesOf(shape, other).map(value))
  const timesPeer = (value: (sample: Sample) => number, shape: string, contender: string) =>
    compare(value, shape, contender, 'peer-redis')
  const pause = (name: PauseName) => pauses.find((one) => one.name === name)?.longestMs

  const rows: readonly GoalRow[] = [
    [
      'Redis, 8 × 64: times the decisions per CPU-second of the peer',
      'at least',
      10,
      timesPeer(perCpuSecond, '8x64', 'redis'),
    ],
    [
      'Redis, 1 × 100: times the decisions per CPU-second of the peer',
      'at least',
      8,
      timesPeer(perCpuSecond, '1x100', 'redis'),
    ],
    [
      'Redis, 8 × 64: times the decisions per second of the peer',
      'at least',
      6,
      timesPeer(({ perSecond }) => perSecond, '8x64', 'redis'),
    ],
    [
      'memory, 8 × 64: times the decisions per CPU-second of the peer with Redis',
      'at least',
      12,
      timesPeer(perCpuSecond, '8x64', 'memory'),
    ],
    [
      'Redis, 10 descriptors: times the decisions per CPU-second of the peer',
      'at least',
      15,
      timesPeer(perCpuSecond, '10-descriptors', 'redis'),
    ],
    [
      'Redis, steady 5,000/s: share of the CPU of the peer',
      'at most',
      0.5,
      timesPeer(({ serverCores }) => serverCores, '5000/s', 'redis'),
    ],
    [
      'Redis, steady 5,000/s: share of the p99 of the peer',
      'at most',
      1,
      timesPeer(({ p99Ms }) => p99Ms, '5000/s', 'redis'),
    ],
    ...(['memory', 'redis'] as const).map(
      (store): GoalRow => [
        `${store === 'redis' ? 'Redis' : store}: cost of a decision with 100,000 rules over 10 rules`,
        'at most',
        1.2,
        compare(cost, 'rules', `${store}@100000`, `${store}@10`),
      ],
    ),
    ['bytes per live counter in memory', 'at most', 250, memory?.bytesPerCounter],
    ['ms that a reload of 100,000 rules blocks', 'at most', 20, pause('reload')],
    ['ms that statistics of 100,000 rules block', 'at most', 20, pause('statistics')],
    ['ms that the expiry of 1 M counters blocks', 'at most', 20, pause('sweep')],
  ]
  return evaluateGoals(rows.map(toGoal)).filter(isMeasured)
}

const perCpuSecond = (sample: Sample) => sample.perCpuSecond
const cost = (sample: Sample) => 1 / sample.perCpuSecond

/** Whether the load generator was the bottleneck, so that the server could do more. */
export function isLoadBound(samples: readonly Sample[]): boolean {
  const load = median(samples.map(({ loadCores }) => loadCores))
  const server = median(samples.map(({ serverCores }) => serverCores))
  return load > 0.9 && server < 0.9
}
