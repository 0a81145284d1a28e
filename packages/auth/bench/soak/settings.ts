import {
  parseChoice,
  parseCount,
  parseOptions,
  parsePositive,
  UsageError,
} from '@portcullis/bench-kit/options'
import { type DatabaseServerName, databaseServerNames } from '../servers/database-server.ts'

export const help = `Usage: npm run bench -- auth-soak [options]

Mixed requests for minutes, at a share of what the server can bear: reads and changes of users,
refreshes, sign-ins, sign-ups, one-time passwords by email and pages of users. There must be no error,
every message must arrive, and in 10 minutes or more memory must not grow.

  --minutes N        how long; 10
  --share N          of the measured maximum; 0.8
  --connections N    that ask; 32
  --users N          in the database beside those who ask; 100000
  --heap N           megabytes that the server may keep (--max-old-space-size); with room for more it
                     puts off cleaning up, which looks like growth in a short run; 0 leaves it to Node
  --postgres NAME    which PostgreSQL is started for it: embedded (the default) or system

A run of 10 minutes or more writes its results to packages/auth/bench/results.`

export interface SoakSettings {
  readonly isHelpWanted: boolean
  readonly minutes: number
  readonly share: number
  readonly connections: number
  readonly users: number
  /** 0: as Node likes. */
  readonly heapMegabytes: number
  readonly postgres: DatabaseServerName
  /** Whether the results are worth keeping. */
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

/** @throws {UsageError} */
export function parseSoakSettings(args: readonly string[]): SoakSettings {
  const values = parseOptions(args, options)
  const minutes = parsePositive('minutes', values.minutes)
  const share = parsePositive('share', values.share)
  if (share > 1) throw new UsageError(`--share must be at most 1, not "${values.share}"`)
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
