import { parseChoice, parseCount, parseOptions, UsageError } from '@portcullis/bench-kit/options'
import { type DatabaseServerName, databaseServerNames } from '../servers/database-server.ts'
import type { DataSetSizes } from './data-set.ts'

export const help = `Usage: npm run bench -- auth-plans [OPTION…]

Fills a database and reports the plan of every statement that requests,
administrators and cleanup run: median time, buffers and indexes. The goals are
5 ms and 100 buffers for a statement of a request, 150 ms for a first page or a
search of an administrator, and 50 ms for cleanup.

Options:
  --users N          users in the database; default: 1000000
  --sessions N       sessions in the database; default: 3000000
  --audit N          audit log entries; default: 10000000
  --rounds N         how often each request is sent; default: 15
  --postgres NAME    PostgreSQL to start: ${databaseServerNames.join(', ')};
                     default: embedded
  --database URL     or: an empty database, as a superuser; it is filled and
                     kept for the next run
  --quick            20000 users, 60000 sessions, 200000 entries, for a rough
                     impression
  --help             show this text

A run of the default size writes its results to packages/auth/bench/results.

Exit codes: 0 on success, 1 if a goal is missed, 2 for invalid arguments.`

export interface PlansSettings {
  readonly isHelpWanted: boolean
  readonly sizes: DataSetSizes
  readonly rounds: number
  readonly postgres: DatabaseServerName
  readonly databaseUrl: string | undefined
  /** Whether the run is complete enough to store its results. */
  readonly isComplete: boolean
}

const usual = { users: '1000000', sessions: '3000000', audit: '10000000' }
const quick = { users: '20000', sessions: '60000', audit: '200000' }

const options = {
  users: { type: 'string' },
  sessions: { type: 'string' },
  audit: { type: 'string' },
  rounds: { type: 'string', default: '15' },
  postgres: { type: 'string', default: 'embedded' },
  database: { type: 'string' },
  quick: { type: 'boolean', default: false },
} as const

/** Throws a UsageError for invalid options. */
export function parsePlansSettings(args: readonly string[]): PlansSettings {
  const values = parseOptions(args, options)
  const byDefault = values.quick ? quick : usual
  const count = (name: keyof typeof usual) => parseCount(name, values[name] ?? byDefault[name])
  const sizes = { users: count('users'), sessions: count('sessions'), audit: count('audit') }
  if (sizes.users < 1_000) throw new UsageError('--users must be at least 1000.')
  const { database } = values
  if (database !== undefined && !/^postgres(?:ql)?:\/\//.test(database)) {
    // The URL may contain a password, so it is not repeated.
    throw new UsageError('--database must be postgres://USER:PASSWORD@HOST:PORT/NAME.')
  }
  return {
    isHelpWanted: values.help,
    sizes,
    rounds: parseCount('rounds', values.rounds),
    postgres: parseChoice('postgres', values.postgres, databaseServerNames),
    databaseUrl: database,
    isComplete: Object.entries(usual).every(
      ([name, size]) => sizes[name as keyof typeof usual] >= Number(size),
    ),
  }
}
