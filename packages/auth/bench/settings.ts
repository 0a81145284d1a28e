import {
  listNames,
  parseChoice,
  parseCount,
  parseOptions,
  parsePositive,
  parseSelection,
  UsageError,
} from '@portcullis/bench-kit/options'
import { parsePeer, peerOptions } from '@portcullis/bench-kit/peer'
import type { Target } from '@portcullis/bench-kit/server-process'
import { families } from './cases.ts'
import type { Plan } from './measure.ts'
import type { Peer, RunningPeer } from './servers/contestants.ts'
import { type DatabaseServerName, databaseServerNames } from './servers/database-server.ts'

/** The number of statements per request is measured in addition to the cases. */
const statementsName = 'statements'
const names = [...families, statementsName]

export const help = `Usage: npm run bench -- auth [OPTION…]

Measures the authentication server and, if one is given, Supabase Auth. Both
use databases of the same PostgreSQL and take turns.

Options:
  --peer-program FILE    Supabase Auth to start on a new database; migrations/
                         must be next to it
  --peer URL             or: the URL of a running one; requires --peer-pid and
                         --peer-database
  --peer-pid PID         process id of the peer
  --peer-database URL    database URL of the peer, as a superuser; a million
                         users are inserted, and our server uses the database
                         bench_ours on the same PostgreSQL
  --peer-environment     print the variables that a running peer needs

  --workers N            also measure GET /user and refresh with N workers,
                         which share the connections to PostgreSQL; 1: only one
                         worker; default: 4
  --worker-cores N       cores that each worker may use, such as 0.2, so that
                         PostgreSQL and the load have enough of them on a small
                         machine; needs root, and no peer; default: all
  --postgres NAME        PostgreSQL to start: ${databaseServerNames.join(', ')};
                         default: embedded
  --only NAMES           comma-separated list of what to measure:
                         ${listNames(names, 25)}
  --users N              skip cases that need more users; default: 1000000
  --rounds N             slices for each server and case; default: 8
  --seconds N            length of a slice, four times as long if passwords are
                         hashed; default: 1
  --warmup N             seconds of warm-up for each worker of a server and each
                         case, up to ten times as long until a worker has had
                         5,000 requests; default: 1
  --quick                2 rounds of 0.5 s with 100,000 users, for a rough
                         impression
  --strict               exit with code 1 if a goal is missed
  --help                 show this text

A complete run writes its results to packages/auth/bench/results.

Exit codes: 0 on success, 1 on failure, 2 for invalid arguments.`

export interface Settings {
  readonly isHelpWanted: boolean
  readonly isEnvironmentWanted: boolean
  readonly peer: Peer
  readonly postgres: DatabaseServerName
  /** Our server is also measured with this many workers. */
  readonly workers: number
  /** The cores that each worker may use. Default: all. */
  readonly workerCores: number | undefined
  readonly families: readonly string[]
  readonly countsStatements: boolean
  readonly mostUsers: number
  readonly plan: Plan
  /** Whether the run is complete enough to store its results. */
  readonly isComplete: boolean
  readonly isStrict: boolean
}

const options = {
  ...peerOptions,
  'peer-database': { type: 'string' },
  'peer-environment': { type: 'boolean', default: false },
  postgres: { type: 'string', default: 'embedded' },
  workers: { type: 'string', default: '4' },
  'worker-cores': { type: 'string' },
  only: { type: 'string' },
  users: { type: 'string' },
  rounds: { type: 'string' },
  seconds: { type: 'string' },
  warmup: { type: 'string' },
  quick: { type: 'boolean', default: false },
  strict: { type: 'boolean', default: false },
} as const

/** Throws a UsageError for invalid options. */
export function parseSettings(args: readonly string[]): Settings {
  const values = parseOptions(args, options)
  const only = parseSelection(values.only, names)
  const quick = values.quick ? { rounds: '2', seconds: '0.5', warmup: '0.5', users: '100000' } : {}
  const usual = { rounds: '8', seconds: '1', warmup: '1', users: '1000000', ...quick }
  return {
    isHelpWanted: values.help,
    isEnvironmentWanted: values['peer-environment'],
    peer: parsePeer(values, ['peer-pid', 'peer-database'], (address) =>
      parseRunningPeer(address, values),
    ),
    postgres: parseChoice('postgres', values.postgres, databaseServerNames),
    workers: parseCount('workers', values.workers),
    workerCores: parseWorkerCores(values),
    families: families.filter((name) => only.includes(name)),
    countsStatements: only.includes(statementsName),
    mostUsers: parseCount('users', values.users ?? usual.users),
    plan: {
      rounds: parseCount('rounds', values.rounds ?? usual.rounds),
      seconds: parsePositive('seconds', values.seconds ?? usual.seconds),
      warmupSeconds: parsePositive('warmup', values.warmup ?? usual.warmup),
    },
    isComplete:
      values.only === undefined &&
      values.users === undefined &&
      values['worker-cores'] === undefined &&
      !values.quick,
    isStrict: values.strict,
  }
}

type Options = ReturnType<typeof parseOptions<typeof options>>

function parseWorkerCores(options: Options): number | undefined {
  const { 'worker-cores': cores, peer, 'peer-program': program } = options
  if (cores === undefined) return undefined
  if (peer !== undefined || program !== undefined) {
    throw new UsageError('--worker-cores does not limit a peer, so it cannot be compared with one.')
  }
  return parsePositive('worker-cores', cores)
}

function parseRunningPeer(address: string, options: Options): RunningPeer {
  const { 'peer-pid': pid, 'peer-database': database } = options
  if (pid === undefined || database === undefined) {
    throw new UsageError('--peer needs --peer-pid and --peer-database as well.')
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
    throw new UsageError(`--peer must be http://HOST:PORT, not "${text}".`)
  }
  return { host: url.hostname, port: Number(url.port) }
}

function parseDatabaseUrl(text: string): string {
  if (/^postgres(?:ql)?:\/\//.test(text) && URL.canParse(text)) return text
  // The URL may contain a password, so it is not repeated.
  throw new UsageError('--peer-database must be postgres://USER:PASSWORD@HOST:PORT/NAME.')
}
