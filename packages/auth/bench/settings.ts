import { parseArgs } from 'node:util'
import { families } from './cases.ts'
import type { Target } from './load/order.ts'
import type { Plan } from './measure.ts'
import type { Peer } from './servers/contestants.ts'
import { type DatabaseServerName, databaseServers } from './servers/database-server.ts'

/** Something on the command line that cannot be meant. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

const serverNames = Object.keys(databaseServers).join(', ')

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

  --postgres NAME        which PostgreSQL is started for it: ${serverNames}; embedded
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

export function parseSettings(args: readonly string[]): Settings {
  const values = parseOptions(args)
  const only = values.only?.split(',') ?? names
  for (const name of only) {
    if (!names.includes(name)) {
      throw new UsageError(
        `There is nothing called "${name}" to measure. Choose from: ${names.join(', ')}`,
      )
    }
  }
  const quick = values.quick ? { rounds: '2', seconds: '0.5', warmup: '0.5', users: '100000' } : {}
  const usual = { rounds: '8', seconds: '1', warmup: '1', users: '1000000', ...quick }
  return {
    isHelpWanted: values.help,
    isEnvironmentWanted: values['peer-environment'],
    peer: parsePeer(values),
    postgres: parseServerName(values.postgres),
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

function parseOptions(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        peer: { type: 'string' },
        'peer-pid': { type: 'string' },
        'peer-database': { type: 'string' },
        'peer-program': { type: 'string' },
        'peer-environment': { type: 'boolean', default: false },
        postgres: { type: 'string', default: 'embedded' },
        only: { type: 'string' },
        users: { type: 'string' },
        rounds: { type: 'string' },
        seconds: { type: 'string' },
        warmup: { type: 'string' },
        quick: { type: 'boolean', default: false },
        strict: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    }).values
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

type Options = ReturnType<typeof parseOptions>

function parsePeer(options: Options): Peer {
  const { peer, 'peer-pid': pid, 'peer-database': database, 'peer-program': program } = options
  if (peer !== undefined && program !== undefined) {
    throw new UsageError('Give --peer for a server that runs, or --peer-program, not both')
  }
  if (peer === undefined) {
    for (const name of ['peer-pid', 'peer-database'] as const) {
      if (options[name] !== undefined) throw new UsageError(`--${name} needs --peer`)
    }
    return program === undefined ? { kind: 'none' } : { kind: 'program', file: program }
  }
  if (pid === undefined || database === undefined) {
    throw new UsageError('--peer needs --peer-pid and --peer-database as well')
  }
  return {
    kind: 'running',
    target: parseTarget(peer),
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

function parseServerName(text: string): DatabaseServerName {
  if (text === 'embedded' || text === 'system') return text
  throw new UsageError(`--postgres must be one of ${serverNames}, not "${text}"`)
}

function parsePositive(name: string, text: string): number {
  const value = Number(text)
  if (value > 0 && value < Number.POSITIVE_INFINITY) return value
  throw new UsageError(`--${name} must be a number above 0, not "${text}"`)
}

function parseCount(name: string, text: string): number {
  if (/^[1-9]\d*$/.test(text)) return Number(text)
  throw new UsageError(`--${name} must be a whole number above 0, not "${text}"`)
}
