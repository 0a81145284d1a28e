import { evaluateGoals, type GoalResult, type GoalRow, toGoal } from '@portcullis/bench-kit/goals'
import { median, medianRatio } from '@portcullis/bench-kit/statistics'
import type { Sample, Series } from './measure.ts'
import type { ContestantName } from './servers/contestants.ts'

export interface Measured {
  readonly series: readonly Series[]
  readonly bcryptPerSecond: readonly number[]
  /** Resident memory of our server before it has handled any request. */
  readonly idleMegabytes: number
}

const perSecond = (sample: Sample) => sample.perSecond

/** Compares the results with the goals of the server. */
export function checkGoals({
  series,
  bcryptPerSecond,
  idleMegabytes,
}: Measured): readonly GoalResult[] {
  const samplesOf = (name: string, contestant: ContestantName): readonly Sample[] =>
    series.find((one) => one.case.name === name && one.contestant === contestant)?.samples ?? []
  const timesPeer = (name: string, peersName = name) =>
    medianRatio(samplesOf(name, 'ours').map(perSecond), samplesOf(peersName, 'peer').map(perSecond))
  const logins = samplesOf('login', 'ours')
  const rows: readonly GoalRow[] = [
    ['refresh: times the requests per second of the peer', 'at least', 4, timesPeer('refresh')],
    ['GET /user: times the requests per second of the peer', 'at least', 3, timesPeer('user')],
    ...(['first', 'deep', 'filter'] as const).map(
      (page): GoalRow => [
        `admin list at 1M users, ${page}: times the requests per second of the peer`,
        'at least',
        20,
        timesPeer(`admin-${page}-1M`),
      ],
    ),
    [
      'admin list at 1M users, by cursor: times the pages in the middle per second of the peer',
      'at least',
      20,
      timesPeer('admin-cursor-1M', 'admin-deep-1M'),
    ],
    [
      'password logins per second, as a share of bcrypt without a server',
      'at least',
      0.95,
      medianRatio(logins.map(perSecond), bcryptPerSecond),
    ],
    [
      'p99 of GET /user in ms while passwords are checked',
      'at most',
      50,
      median(logins.map(({ probeP99Ms }) => probeP99Ms ?? Number.NaN)),
    ],
    ['resident memory in MB when idle', 'at most', 150, idleMegabytes],
  ]
  return evaluateGoals(rows.map(toGoal))
}
