import {
  parseChoice,
  parseCount,
  parseOptions,
  parsePositive,
  parseWanted,
  UsageError,
} from '@portcullis/bench-kit/options'
import { parsePeer, peerOptions } from '@portcullis/bench-kit/peer'
import type { Target } from '@portcullis/bench-kit/server-process'
import { families } from './cases.ts'
import type { Plan } from './measure.ts'
import type { Peer, RunningPeer } from './servers/contestants.ts'
import { type DatabaseServerName, databaseServerNames } from './servers/database-server.ts'

/** Besides the cases: how many statements PostgreSQL sees for each request. */
const statementsName = 'statements'
const names = [...families, statementsName]

export const help = `Usage: npm run bench -- auth [options]

Measures the authentication server, beside Supabase Auth where one is given: both on databases of one
PostgreSQL, taking turns.

  --peer-program FILE    Supabase Auth, to be started on a fresh database; migrations/ lies beside it
  --peer URL             or: the address of one that runs; needs --peer-pid and --peer-database
  --peer-pid PID         its process
  --peer-database URL    its database, for a superuser; a million users are put into it, and ours
                         gets the database bench_ours on the same PostgreSQL
  --peer-environment     only print the variables that a running peer needs

  --postgres NAME        which PostgreSQL is started for it: ${databaseServerNames.join(', ')}; embedded
  --only NAMES           what to measure, with commas between them:
                         ${names.join(', ')}
  --users N              leave out what needs more users than this; 1000000
  --rounds N             how many slices for each server and case; 8
  --seconds N            length of a slice; 1 (four times that where passwords are hashed)
  --warmup N             seconds of load for each server and case beforehand; 1
  --quick                2 rounds of 0.5 s with 100,000 users: a look, not a measurement
  --strict               exit with code 1 when an aim is missed

A run of everything writes its results to packages/auth/bench/results.`

export interface Settings {
  readonly isHelpWanted: boolean
  readonly isEnvironmentWanted: boolean
  readonly peer: Peer
  readonly postgres: DatabaseServerName
  readonly families: readonly string[]
  readonly countsStatements: boolean
  readonly mostUsers: number
  readonly plan: Plan
  /** Whether everything is measured with care, so that the results are worth keeping. */
  readonly isComplete: boolean
  readonly isStrict: boolean
}

const options = {
  ...peerOptions,
  'peer-database': { type: 'string' },
  'peer-environment': { type: 'boolean', default: false },
  postgres: { type: 'string', default: 'embedded' },
  only: { type: 'string' },
  users: { type: 'string' },
  rounds: { type: 'string' },
  seconds: { type: 'string' },
  warmup: { type: 'string' },
  quick: { type: 'boolean', default: false },
  strict: { type: 'boolean', default: false },
} as const

/** @throws {UsageError} */
export function parseSettings(args: readonly string[]): Settings {
  const values = parseOptions(args, options)
  const only = parseWanted(values.only, names)
  const quick = values.quick ? { rounds: '2', seconds: '0.5', warmup: '0.5', users: '100000' } : {}
  const usual = { rounds: '8', seconds: '1', warmup: '1', users: '1000000', ...quick }
  return {
    isHelpWanted: values.help,
    isEnvironmentWanted: values['peer-environment'],
    peer: parsePeer(values, ['peer-pid', 'peer-database'], (address) =>
      parseRunningPeer(address, values),
    ),
    postgres: parseChoice('postgres', values.postgres, databaseServerNames),
    families: families.filter((name) => only.includes(name)),
    countsStatements: only.includes(statementsName),
    mostUsers: parseCount('users', values.users ?? usual.users),
    plan: {
      rounds: parseCount('rounds', values.rounds ?? usual.rounds),
      seconds: parsePositive('seconds', values.seconds ?? usual.seconds),
      warmupSeconds: parsePositive('warmup', values.warmup ?? usual.warmup),
    },
    isComplete: values.only === undefined && values.users === undefined && !values.quick,
    isStrict: values.strict,
  }
}

type Options = ReturnType<typeof parseOptions<typeof options>>

function parseRunningPeer(address: string, options: Options): RunningPeer {
  const { 'peer-pid': pid, 'peer-database': database } = options
  if (pid === undefined || database === undefined) {
    throw new UsageError('--peer needs --peer-pid and --peer-database as well')
  }
  return {
    target: parseTarget(address),
    pid: parseCount('peer-pid', pid),
    databaseUrl: parseDatabaseUrl(database),
  }
}

function parseTarget(text: string): Target {
  const url = URL.parse(text)
  if (url?.protocol !== 'http:' || url.port === '') {
    throw new UsageError(`--peer must be http://HOST:PORT, not "${text}"`)
  }
  return { host: url.hostname, port: Number(url.port) }
}

function parseDatabaseUrl(text: string): string {
  if (/^postgres(?:ql)?:\/\//.test(text) && URL.canParse(text)) return text
  // It may hold a password.
  throw new UsageError('--peer-database must be postgres://USER:PASSWORD@HOST:PORT/NAME')
}
