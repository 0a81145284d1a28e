import {
  listNames,
  parseCount,
  parseOptions,
  parsePositive,
  UsageError,
} from '@portcullis/bench-kit/options'
import { type ContenderName, contenderNames, contenders, isContender } from './contenders.ts'
import type { Plan } from './measure.ts'
import { parseMajor } from './one-graphql.ts'
import { type QueryName, queries } from './queries.ts'

export const help = `Usage: npm run bench -- graphql [OPTION…]

Measures the GraphQL library and other servers, each in its own process, in
turns. The unit is requests per second of CPU time of the server, which other
load of the machine affects least.

Options:
  --only NAMES         comma-separated list of the contenders to measure:
                       ${listNames(contenderNames, 23)}
  --query NAME         hello or list; default: both
  --graphql 16|17      version of graphql for all contenders; mercurius and
                       Apollo need 16; default: 16
  --rounds N           number of slices for each contender and query;
                       default: 40
  --seconds N          length of a slice; default: 0.3
  --starts N           how often all processes are restarted, at even intervals;
                       default: 4
  --warmup N           seconds of load for each contender and query after a
                       start; default: 2
  --connections N      number of busy connections; default: 16
  --strict             exit with code 1 if a goal is missed

  --distinct           measure cost and memory by number of distinct documents
                       instead
  --documents NUMBERS  numbers of documents; default: 1,1000,1000000
  --help               show this text

A run of all contenders and queries writes its results to
packages/graphql-over-http/bench/results.

Exit codes: 0 on success, 1 on failure, 2 for invalid arguments.`

export interface Settings {
  readonly plan: Plan
  /** Requested contenders that do not support this version of graphql. */
  readonly leftOut: readonly ContenderName[]
  /** Whether everything is measured, in which case the results are written to files. */
  readonly isComplete: boolean
  readonly isStrict: boolean
  readonly isHelpWanted: boolean
  /** Numbers of distinct documents with --distinct; otherwise undefined. */
  readonly distinct: readonly number[] | undefined
}

const options = {
  only: { type: 'string' },
  query: { type: 'string' },
  graphql: { type: 'string', default: '16' },
  rounds: { type: 'string', default: '40' },
  seconds: { type: 'string', default: '0.3' },
  starts: { type: 'string', default: '4' },
  warmup: { type: 'string', default: '2' },
  connections: { type: 'string', default: '16' },
  strict: { type: 'boolean', default: false },
  distinct: { type: 'boolean', default: false },
  documents: { type: 'string', default: '1,1000,1000000' },
} as const

/** @throws {UsageError} */
export function parseSettings(args: readonly string[]): Settings {
  const values = parseOptions(args, options)
  const graphql = parseMajorOption(values.graphql)
  const wanted = values.only === undefined ? contenderNames : parseNames(values.only)
  const supports = (name: ContenderName) => contenders[name].graphql?.includes(graphql) ?? true
  return {
    plan: {
      contenders: wanted.filter(supports),
      queries: parseQueries(values.query),
      graphql,
      connections: parseCount('connections', values.connections),
      rounds: parseCount('rounds', values.rounds),
      starts: parseCount('starts', values.starts),
      seconds: parsePositive('seconds', values.seconds),
      warmupSeconds: parsePositive('warmup', values.warmup),
    },
    leftOut: wanted.filter((name) => !supports(name)),
    isComplete: values.only === undefined && values.query === undefined,
    isStrict: values.strict,
    isHelpWanted: values.help,
    distinct: values.distinct
      ? values.documents.split(',').map((number) => parseCount('documents', number))
      : undefined,
  }
}

function parseMajorOption(text: string) {
  try {
    return parseMajor(text)
  } catch {
    throw new UsageError(`--graphql must be 16 or 17, not "${text}".`)
  }
}

function parseNames(text: string): readonly ContenderName[] {
  return text.split(',').map((name) => {
    if (isContender(name)) return name
    throw new UsageError(`Unknown contender "${name}". Choose from: ${contenderNames.join(', ')}.`)
  })
}

function parseQueries(text: string | undefined): readonly QueryName[] {
  if (text === undefined) return Object.keys(queries) as QueryName[]
  if (text === 'hello' || text === 'list') return [text]
  throw new UsageError(`--query must be hello or list, not "${text}".`)
}
