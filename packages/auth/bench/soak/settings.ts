import {
  parseChoice,
  parseCount,
  parseOptions,
  parsePositive,
  UsageError,
} from '@portcullis/bench-kit/options'
import { type DatabaseServerName, databaseServerNames } from '../servers/database-server.ts'

export const help = `Usage: npm run bench -- auth-soak [OPTION…]

Sends mixed requests for some minutes, at a share of the maximum load: reads
and changes of users, refreshes, sign-ins, sign-ups, one-time codes by email
and lists of users. There must be no error, every message must arrive, and in a
run of 10 minutes or more memory must not grow.

Options:
  --minutes N        duration; default: 10
  --share N          share of the measured maximum; default: 0.8
  --connections N    number of connections; default: 32
  --users N          additional users in the database; default: 100000
  --heap N           heap limit of the server in megabytes
                     (--max-old-space-size); with a large heap garbage
                     collection is delayed, which looks like growth in a short
                     run; default: that of Node
  --postgres NAME    PostgreSQL to start: embedded or system; default: embedded
  --help             show this text

A run of 10 minutes or more writes its results to packages/auth/bench/results.

Exit codes: 0 on success, 1 on failure, 2 for invalid arguments.`

export interface SoakSettings {
  readonly isHelpWanted: boolean
  readonly minutes: number
  readonly share: number
  readonly connections: number
  readonly users: number
  /** 0 for the default of Node. */
  readonly heapMegabytes: number
  readonly postgres: DatabaseServerName
  /** Whether the run is complete enough to store its results. */
  readonly isComplete: boolean
}

const completeMinutes = 10

const options = {
  minutes: { type: 'string', default: '10' },
  share: { type: 'string', default: '0.8' },
  connections: { type: 'string', default: '32' },
  users: { type: 'string', default: '100000' },
  heap: { type: 'string', default: '0' },
  postgres: { type: 'string', default: 'embedded' },
} as const

/** Throws a UsageError for invalid options. */
export function parseSoakSettings(args: readonly string[]): SoakSettings {
  const values = parseOptions(args, options)
  const minutes = parsePositive('minutes', values.minutes)
  const share = parsePositive('share', values.share)
  if (share > 1) throw new UsageError(`--share must be at most 1, not "${values.share}".`)
  const postgres = parseChoice('postgres', values.postgres, databaseServerNames)
  return {
    isHelpWanted: values.help,
    minutes,
    share,
    connections: parseCount('connections', values.connections),
    users: parseCount('users', values.users),
    heapMegabytes: values.heap === '0' ? 0 : parseCount('heap', values.heap),
    postgres,
    isComplete: minutes >= completeMinutes,
  }
}
