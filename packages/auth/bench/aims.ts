import { median, medianRatio } from '@portcullis/bench-kit/statistics'
import type { Sample, Series } from './measure.ts'
import type { ContestantName } from './servers/contestants.ts'

export interface Aim {
  readonly text: string
  readonly direction: 'at least' | 'at most'
  readonly wanted: number
  /** Null: not measured, for want of a peer or because it was not asked for. */
  readonly reached: number | null
  readonly isReached: boolean | null
}

export interface Measured {
  readonly series: readonly Series[]
  readonly bcryptPerSecond: readonly number[]
  /** Of our process, before it has answered anything. */
  readonly idleMegabytes: number
}

type Row = readonly [text: string, direction: Aim['direction'], wanted: number, reached: number]

const perSecond = (sample: Sample) => sample.perSecond

/** What the server must reach. */
export function checkAims({ series, bcryptPerSecond, idleMegabytes }: Measured): readonly Aim[] {
  const samplesOf = (name: string, contestant: ContestantName): readonly Sample[] =>
    series.find((one) => one.case.name === name && one.contestant === contestant)?.samples ?? []
  const timesPeer = (name: string, peersName = name) =>
    medianRatio(samplesOf(name, 'ours').map(perSecond), samplesOf(peersName, 'peer').map(perSecond))
  const logins = samplesOf('login', 'ours')
  const rows: readonly Row[] = [
    ['refresh: times the requests per second of the peer', 'at least', 4, timesPeer('refresh')],
    ['GET /user: times the requests per second of the peer', 'at least', 3, timesPeer('user')],
    ...(['first', 'deep', 'filter'] as const).map(
      (page): Row => [
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
  return rows.map(([text, direction, wanted, value]) => {
    if (Number.isNaN(value)) return { text, direction, wanted, reached: null, isReached: null }
    const isReached = direction === 'at least' ? value >= wanted : value <= wanted
    return { text, direction, wanted, reached: Number(value.toFixed(3)), isReached }
  })
}
