import { evaluateGoals, type GoalResult, type GoalRow, toGoal } from '@portcullis/bench-kit/goals'
import { median, medianRatio } from '@portcullis/bench-kit/statistics'
import type { BcryptSample, Sample, Series } from './measure.ts'
import type { ContestantName } from './servers/contestants.ts'

export interface Measured {
  readonly series: readonly Series[]
  readonly bcrypt: readonly BcryptSample[]
  /** Resident memory of our server before it has handled any request. */
  readonly idleMegabytes: number
  /** Our server is also measured with this many workers. */
  readonly workers: number
  /** The cores that each worker may use. Default: all. */
  readonly workerCores?: number | undefined
  /** The cores of the machine. */
  readonly cores: number
}

const perSecond = (sample: BcryptSample) => sample.perSecond
const perCpuSecond = (sample: BcryptSample) => sample.perCpuSecond
const cpuPerRequest = (sample: Sample) => 1 / sample.perCpuSecond

/** PostgreSQL and the load generator together need about as many cores as the workers. */
const coresPerWorker = 2
/** On fewer, PostgreSQL and the load generator take a noticeable part of the cores that bcrypt has alone. */
const coresForLogins = 8

/** Compares the results with the goals of the server. */
export function checkGoals({
  series,
  bcrypt,
  idleMegabytes,
  workers,
  workerCores = 1,
  cores,
}: Measured): readonly GoalResult[] {
  const samplesOf = (name: string, contestant: ContestantName): readonly Sample[] =>
    series.find((one) => one.case.name === name && one.contestant === contestant)?.samples ?? []
  const timesPeer = (name: string, peersName = name, ours: ContestantName = 'ours') =>
    medianRatio(samplesOf(name, ours).map(perSecond), samplesOf(peersName, 'peer').map(perSecond))
  const timesOneWorker = (pick: (sample: Sample) => number) =>
    medianRatio(
      samplesOf('user-scaled', 'workers').map(pick),
      samplesOf('user-scaled', 'ours').map(pick),
    )
  const neededCores = coresPerWorker * workerCores * workers
  const ofBcrypt = (pick: (sample: BcryptSample) => number) =>
    medianRatio(samplesOf('login', 'ours').map(pick), bcrypt.map(pick))
  const probedLogins = samplesOf('login-probed', 'ours')
  const rows: readonly GoalRow[] = [
    ['refresh: times the requests per second of the peer', 'at least', 6, timesPeer('refresh')],
    ['GET /user: times the requests per second of the peer', 'at least', 4, timesPeer('user')],
    [
      `GET /user with ${workers} workers: times the requests per second of the peer`,
      'at least',
      3.5,
      timesPeer('user', 'user', 'workers'),
    ],
    [
      `GET /user with ${workers} workers: times the requests per second of one worker, on ${neededCores} cores or more`,
      'at least',
      0.85 * workers,
      cores >= neededCores ? timesOneWorker(perSecond) : undefined,
    ],
    [
      `GET /user with ${workers} workers: times the CPU time per request of one worker`,
      'at most',
      1.1,
      timesOneWorker(cpuPerRequest),
    ],
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
      'password logins per CPU second of the server, as a share of bcrypt without a server',
      'at least',
      0.97,
      ofBcrypt(perCpuSecond),
    ],
    [
      `password logins per second, as a share of bcrypt without a server, on ${coresForLogins} cores or more`,
      'at least',
      0.97,
      cores >= coresForLogins ? ofBcrypt(perSecond) : undefined,
    ],
    [
      'p99 of GET /user in ms while passwords are checked',
      'at most',
      50,
      median(probedLogins.map(({ probeP99Ms }) => probeP99Ms ?? Number.NaN)),
    ],
    ['resident memory in MB when idle', 'at most', 150, idleMegabytes],
  ]
  return evaluateGoals(rows.map(toGoal))
}
